//! Holding back: into the store, over the place, and out again once it is harmless.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, flock, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use super::lookup::Place;
use super::store::{self, STAND_IN};
use super::{Broker, Root, Unit};
use crate::git_config::{self, Judged};
use crate::mounts;
use crate::names::{self, Kind, Making, Ruling};

type Result<T> = std::result::Result<T, Errno>;

/// What cannot be held back is refused.
const REFUSED: Errno = Errno::ROFS;

/// The file in a store that says which directory it is of.
pub(super) const BIRTH: &str = "root";

/// Deeper than this nothing is held back.
const DEEPEST: usize = 64;

/// What is held back of one root.
#[derive(Debug)]
pub(super) struct Store {
    /// The same paths as in the root.
    files: OwnedFd,
    /// What configurations were outside when both sides last agreed.
    agreed: OwnedFd,
    /// The directory that all of this is in.
    own: OwnedFd,
    /// Shared by the commands that see what stands in for something.
    showing: OwnedFd,
}

impl Store {
    fn open(base: &OwnedFd, root: &Root, make: bool) -> Result<Self> {
        let name = store::store_name(&root.path).ok_or(Errno::NAMETOOLONG)?;
        let birth = birth_of(&root.real)?;
        // What was held back of a directory that is gone says nothing about another in its place.
        let is_another = store::directory(base, Path::new(&name))
            .is_ok_and(|own| read(&own, OsStr::new(BIRTH)).is_ok_and(|known| known != birth));
        if is_another {
            store::remove(base, OsStr::new(&name)).map_err(|error| errno(&error))?;
        }
        if make {
            for path in
                [Path::new(&name).to_owned(), Path::new(&name).join("files"), Path::new(&name).join("agreed")]
            {
                match mkdirat(base, &path, Mode::RWXU) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        let own = store::directory(base, Path::new(&name))?;
        if make {
            store::replace(&own, OsStr::new(BIRTH), &birth, Mode::RUSR | Mode::WUSR)
                .map_err(|error| errno(&error))?;
        }
        Ok(Store {
            files: store::directory(&own, Path::new("files"))?,
            agreed: store::directory(&own, Path::new("agreed"))?,
            showing: open_lock(&own, "showing")?,
            own,
        })
    }

    /// Nobody else changes anything in it until what is returned is dropped.
    fn lock(&self) -> Result<OwnedFd> {
        let lock = open_lock(&self.own, "changing")?;
        flock(&lock, FlockOperation::LockExclusive)?;
        Ok(lock)
    }
}

impl Broker {
    /// Whether a path is itself held back and shown in here.
    pub(super) fn is_unit(&self, path: &Path) -> bool {
        self.units.iter().any(|unit| unit.path == path)
    }

    /// Holds something back: from now on the command works on a copy. What is not there is made, in the store.
    pub(super) fn hold(&mut self, path: &Path, kind: Kind, making: Making) -> Result<()> {
        if self.is_unit(path) {
            self.touched.insert(path.to_owned());
            return Ok(());
        }
        let root = self.store_of(path, true)?;
        let Root { real, store, path: top } = self.roots.get(root).ok_or(REFUSED)?;
        let (store, relative) =
            (store.as_ref().ok_or(REFUSED)?, path.strip_prefix(top).map_err(|_| REFUSED)?);
        let name = path.file_name().ok_or(REFUSED)?;
        let _lock = store.lock()?;
        let own = store::parents(&store.files, relative)?;
        let outer = store::directory(real, relative.parent().unwrap_or(Path::new("")))?;
        let found = statat(&outer, name, AtFlags::SYMLINK_NOFOLLOW)
            .map(|found| FileType::from_raw_mode(found.st_mode));
        let is_held = statat(&own, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        match found {
            _ if is_held => {}
            Ok(FileType::RegularFile | FileType::Directory) if !store::is_stand_in(&outer, name) => {
                store::copy(&outer, name, &own, name).map_err(|error| errno(&error))?;
            }
            Err(Errno::NOENT) | Ok(FileType::RegularFile | FileType::Directory) => make(&own, name, making)?,
            Ok(_) | Err(_) => return Err(REFUSED),
        }
        if kind == Kind::Configuration && !is_held {
            let agreed = store::parents(&store.agreed, relative)?;
            let bytes = read(&outer, name).unwrap_or_default();
            store::replace(agreed, name, &bytes, Mode::RUSR | Mode::WUSR).map_err(|error| errno(&error))?;
        }
        self.show(root, path, kind)?;
        self.touched.insert(path.to_owned());
        Ok(())
    }

    /// Shows one thing that is held back in its place, which is made for it if there is none.
    fn show(&mut self, root: usize, path: &Path, kind: Kind) -> Result<()> {
        let Root { real, store, path: top } = self.roots.get(root).ok_or(REFUSED)?;
        let (store, relative) =
            (store.as_ref().ok_or(REFUSED)?, path.strip_prefix(top).map_err(|_| REFUSED)?);
        let name = path.file_name().ok_or(REFUSED)?;
        let parent = relative.parent().unwrap_or(Path::new(""));
        let own = store::directory(&store.files, parent)?;
        let outer = store::directory(real, parent)?;
        let held = statat(&own, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let is_directory = FileType::from_raw_mode(held.st_mode) == FileType::Directory;
        match statat(&outer, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => stand_in(&outer, name, is_directory)?,
            Ok(found) if (FileType::from_raw_mode(found.st_mode) == FileType::Directory) == is_directory => {}
            Ok(_) | Err(_) => return Err(REFUSED),
        }
        let _ = flock(&store.showing, FlockOperation::LockShared);
        let tree = mounts::copy_at(&own, Path::new(name)).map_err(|error| errno(&error))?;
        mounts::attach(tree, path).map_err(|error| errno(&error))?;
        self.units.push(Unit { path: path.to_owned(), kind });
        Ok(())
    }

    /// Shows whatever is held back of a root.
    pub(super) fn show_all(&mut self, root: usize) {
        let Some(top) = self.roots.get(root).map(|root| root.path.clone()) else { return };
        if self.store_of(&top, false).is_err() {
            return;
        }
        let Some(Root { store: Some(store), real, .. }) = self.roots.get(root) else { return };
        let mut found = Vec::new();
        walk(&store.files, Path::new(""), &mut |relative, making| {
            let is_repository = |directory: &Path| {
                directory.strip_prefix(&top).is_ok_and(|relative| is_repository(real, relative))
            };
            let path = top.join(relative);
            let named = self.named.contains(&path).then_some(Kind::Code);
            let kind = named.or_else(|| names::unit(&top, relative, making, is_repository));
            found.extend(kind.map(|kind| (path, kind)));
            kind.is_none()
        });
        for (path, kind) in found {
            if kind == Kind::Configuration {
                let _ = self.catch_up(&path);
            }
            let _ = self.show(root, &path, kind);
        }
    }

    /// Puts a file that was written beside it in place of something that is held back, or would be.
    pub(super) fn put_in_place(&mut self, old: &Place, path: &Path) -> Result<()> {
        let making = Making::File;
        let kind = match self.units.iter().find(|unit| unit.path == *path) {
            Some(unit) => unit.kind,
            None => match self.standing(path, making) {
                super::Standing::Ruled(Ruling::Held { kind, .. }) => kind,
                _ => return Err(REFUSED),
            },
        };
        let mode = statat(&old.parent, &old.name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode;
        let mode = Mode::from_raw_mode(mode & 0o777);
        let bytes = read(&old.parent, &old.name)?;
        let is_harmless = self.judge(path, kind, &bytes).is_some_and(|judged| judged.held.is_empty());
        if is_harmless {
            self.publish(path, &bytes, mode)?;
            self.release(path)?;
        } else {
            self.hold(path, kind, making)?;
            self.write(path, &bytes, mode)?;
            self.settle(path, kind)?;
        }
        Ok(unlinkat(&old.parent, &old.name, AtFlags::empty())?)
    }

    /// Removes what is held back from the store and from its place.
    pub(super) fn discard(&mut self, path: &Path, directory: bool) -> Result<()> {
        let (root, relative) = self.root_of(path).ok_or(REFUSED)?;
        let relative = relative.to_owned();
        let Root { real, store, .. } = self.roots.get(root).ok_or(REFUSED)?;
        let parent = relative.parent().unwrap_or(Path::new(""));
        let (own, outer) = (
            store::directory(&store.as_ref().ok_or(REFUSED)?.files, parent)?,
            store::directory(real, parent)?,
        );
        let name = path.file_name().ok_or(REFUSED)?;
        let found = statat(&own, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let is_directory = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        match (is_directory, directory) {
            (true, false) => return Err(Errno::ISDIR),
            (false, true) => return Err(Errno::NOTDIR),
            _ => {}
        }
        let kind = self.units.iter().find(|unit| unit.path == *path).map(|unit| unit.kind);
        let is_mere = store::is_stand_in(&outer, name);
        if is_directory && !store::names(&reopen(&own, name)?).map_err(|error| errno(&error))?.is_empty() {
            return Err(Errno::NOTEMPTY);
        }
        // What a person put there is not removed; only what decides nothing once it is gone may go with the rest.
        if !is_mere && kind == Some(Kind::Code) && !is_empty_directory(&outer, name) {
            return Err(REFUSED);
        }
        self.release(path)?;
        let flags = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        match unlinkat(&outer, name, flags) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A directory with what is held back in it is somewhere else now.
    pub(super) fn moved(&mut self, old: &Path, new: &Path) {
        let (Some((from, old_relative)), Some((to, new_relative))) = (self.root_of(old), self.root_of(new))
        else {
            return;
        };
        if from != to || self.store_of(old, false).is_err() {
            return;
        }
        if let Some(Root { store: Some(store), .. }) = self.roots.get(from) {
            for tree in [&store.files, &store.agreed] {
                let moved = store::parents(tree, new_relative).and_then(|parent| {
                    rustix::fs::renameat(
                        tree,
                        old_relative,
                        parent,
                        new_relative.file_name().unwrap_or_default(),
                    )
                });
                if moved.is_err() {
                    continue;
                }
            }
        }
        let renamed = |path: &Path| path.strip_prefix(old).ok().map(|rest| new.join(rest));
        for unit in &mut self.units {
            if let Some(path) = renamed(&unit.path) {
                unit.path = path;
            }
        }
        self.touched =
            self.touched.iter().map(|path| renamed(path).unwrap_or_else(|| path.clone())).collect();
    }

    /// Publishes whatever is harmless by now.
    pub(super) fn settle_all(&mut self) {
        for Unit { path, kind } in self.units.clone() {
            let _ = self.settle(&path, kind);
        }
    }

    /// Takes from sight what is held back, and removes what stood in for it, unless other commands still see that.
    pub(super) fn hide_all(&mut self) {
        for Unit { path, .. } in std::mem::take(&mut self.units).into_iter().rev() {
            let _ = unmount(&path, UnmountFlags::DETACH);
            let Some((root, relative)) = self.root_of(&path) else { continue };
            let Some(Root { real, store: Some(store), .. }) = self.roots.get(root) else { continue };
            if flock(&store.showing, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            remove_stand_in(real, relative);
        }
        for root in &self.roots {
            if let Some(store) = &root.store {
                let _ = flock(&store.showing, FlockOperation::Unlock);
            }
        }
    }

    /// Whether a directory may become a repository by one name more: nothing in it may be code then.
    pub(super) fn check_completion(&mut self, path: &Path) -> Result<()> {
        let Some((root, relative)) = self.root_of(path) else { return Ok(()) };
        let Root { real, path: top, .. } = self.roots.get(root).ok_or(REFUSED)?;
        let (Some(directory), Some(added)) = (relative.parent(), relative.file_name()) else { return Ok(()) };
        let is_there = |name: &str| statat(real, directory.join(name), AtFlags::empty()).is_ok();
        let is_usual = directory.file_name() == Some(OsStr::new(".git")) || is_inside_repository(top);
        let others = ["HEAD", "objects", "refs"].into_iter().filter(|name| *added != **name);
        if is_usual || !others.clone().all(is_there) || is_there(&added.to_string_lossy()) {
            return Ok(());
        }
        let open = store::directory(real, directory)?;
        let config = match statat(&open, "config", AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => true,
            Ok(_) => read(&open, OsStr::new("config")).is_ok_and(|bytes| {
                git_config::judge(&bytes, &top.join(directory), &self.tops()).held.is_empty()
            }),
            Err(_) => false,
        };
        let pointers = ["commondir", "config.worktree"]
            .iter()
            .any(|name| statat(&open, *name, AtFlags::SYMLINK_NOFOLLOW).is_ok());
        if config && !pointers && has_no_hooks(&open) { Ok(()) } else { Err(REFUSED) }
    }

    /// Publishes what is harmless of one thing, all of it if it can.
    fn settle(&mut self, path: &Path, kind: Kind) -> Result<()> {
        if kind == Kind::Code {
            return self.release_unchanged(path);
        }
        let (bytes, mode) = self.held_bytes(path)?;
        if kind == Kind::Configuration {
            self.catch_up(path)?;
        }
        match self.judge(path, kind, &bytes) {
            Some(judged) if judged.held.is_empty() => {
                self.publish(path, &bytes, mode)?;
                self.release(path)
            }
            Some(Judged { harmless: Some(harmless), .. }) if kind == Kind::Configuration => {
                self.publish(path, &harmless, mode)
            }
            _ => Ok(()),
        }
    }

    /// Takes over what a person has changed of a configuration since both sides agreed.
    fn catch_up(&mut self, path: &Path) -> Result<()> {
        let (root, relative) = self.root_of(path).ok_or(REFUSED)?;
        let Root { real, store, .. } = self.roots.get(root).ok_or(REFUSED)?;
        let store = store.as_ref().ok_or(REFUSED)?;
        let (parent, name) =
            (relative.parent().unwrap_or(Path::new("")), relative.file_name().ok_or(REFUSED)?);
        let outside = read(&store::directory(real, parent)?, name).unwrap_or_default();
        let agreed =
            store::directory(&store.agreed, parent).and_then(|open| read(&open, name)).unwrap_or_default();
        if outside == agreed {
            return Ok(());
        }
        let (inside, mode) = self.held_bytes(path)?;
        let mut merged = outside.clone();
        if !merged.is_empty() && !merged.ends_with(b"\n") {
            merged.push(b'\n');
        }
        merged.extend(git_config::additions(&inside, &agreed));
        let agreed = store::parents(&store.agreed, relative)?;
        store::replace(agreed, name, &outside, Mode::RUSR | Mode::WUSR).map_err(|error| errno(&error))?;
        self.write(path, &merged, mode)
    }

    fn judge(&self, path: &Path, kind: Kind, bytes: &[u8]) -> Option<Judged> {
        let tops = self.tops();
        match kind {
            Kind::Configuration => Some(git_config::judge(bytes, path.parent()?, &tops)),
            Kind::Pointer => {
                let held = if leads_home(path, bytes, &tops) { Vec::new() } else { vec!["a pointer".into()] };
                Some(Judged { harmless: None, held })
            }
            Kind::Code => None,
        }
    }

    fn tops(&self) -> Vec<&Path> {
        self.roots.iter().map(|root| root.path.as_path()).collect()
    }

    /// What is held back of one file, and its mode.
    fn held_bytes(&self, path: &Path) -> Result<(Vec<u8>, Mode)> {
        let (root, relative) = self.root_of(path).ok_or(REFUSED)?;
        let store = self.roots.get(root).and_then(|root| root.store.as_ref()).ok_or(REFUSED)?;
        let own = store::directory(&store.files, relative.parent().unwrap_or(Path::new("")))?;
        let name = relative.file_name().ok_or(REFUSED)?;
        let mode = statat(&own, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode;
        Ok((read(&own, name)?, Mode::from_raw_mode(mode & 0o777)))
    }

    /// Writes what is held back of one file, and shows it.
    fn write(&mut self, path: &Path, bytes: &[u8], mode: Mode) -> Result<()> {
        let (root, relative) = self.root_of(path).ok_or(REFUSED)?;
        let relative = relative.to_owned();
        let store = self.roots.get(root).and_then(|root| root.store.as_ref()).ok_or(REFUSED)?;
        let own = store::parents(&store.files, &relative)?;
        let name = relative.file_name().ok_or(REFUSED)?;
        store::replace(&own, name, bytes, mode).map_err(|error| errno(&error))?;
        if let Some(at) = self.units.iter().position(|unit| unit.path == *path) {
            let unit = self.units.remove(at);
            let _ = unmount(path, UnmountFlags::DETACH);
            self.show(root, path, unit.kind)?;
        }
        Ok(())
    }

    /// Puts bytes in the real place. Nothing may be mounted there in here meanwhile.
    fn publish(&mut self, path: &Path, bytes: &[u8], mode: Mode) -> Result<()> {
        let (root, relative) = self.root_of(path).ok_or(REFUSED)?;
        let (relative, name) = (relative.to_owned(), path.file_name().ok_or(REFUSED)?);
        let at = self.units.iter().position(|unit| unit.path == *path);
        let Root { real, store, .. } = self.roots.get(root).ok_or(REFUSED)?;
        let outer = store::directory(real, relative.parent().unwrap_or(Path::new("")))?;
        if let Some(store) = store
            && let Ok(agreed) = store::parents(&store.agreed, &relative)
        {
            store::replace(agreed, name, bytes, Mode::RUSR | Mode::WUSR).map_err(|error| errno(&error))?;
        }
        if read(&outer, name).is_ok_and(|there| there == bytes) && !store::is_stand_in(&outer, name) {
            return Ok(());
        }
        if at.is_some() {
            unmount(path, UnmountFlags::DETACH)?;
        }
        let mode = if mode.is_empty() || mode == STAND_IN {
            Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH
        } else {
            mode
        };
        let put = store::replace(&outer, name, bytes, mode & !(Mode::XUSR | Mode::XGRP | Mode::XOTH));
        if let Some(at) = at {
            let unit = self.units.remove(at);
            self.show(root, path, unit.kind)?;
        }
        put.map_err(|error| errno(&error))
    }

    /// It is held back no longer: its place shows what is really there.
    fn release(&mut self, path: &Path) -> Result<()> {
        if let Some(at) = self.units.iter().position(|unit| unit.path == *path) {
            unmount(path, UnmountFlags::DETACH)?;
            self.units.remove(at);
        }
        let Some((root, relative)) = self.root_of(path) else { return Ok(()) };
        let Some(Root { store: Some(store), .. }) = self.roots.get(root) else { return Ok(()) };
        let (parent, name) =
            (relative.parent().unwrap_or(Path::new("")), relative.file_name().ok_or(REFUSED)?);
        for tree in [&store.files, &store.agreed] {
            if let Ok(own) = store::directory(tree, parent) {
                store::remove(&own, name).map_err(|error| errno(&error))?;
            }
        }
        Ok(())
    }

    /// Releases what is the same inside and outside after all.
    fn release_unchanged(&mut self, path: &Path) -> Result<()> {
        let (root, relative) = self.root_of(path).ok_or(REFUSED)?;
        let Root { real, store, .. } = self.roots.get(root).ok_or(REFUSED)?;
        let parent = relative.parent().unwrap_or(Path::new(""));
        let own = store::directory(&store.as_ref().ok_or(REFUSED)?.files, parent)?;
        let outer = store::directory(real, parent)?;
        let name = path.file_name().ok_or(REFUSED)?;
        if !store::is_stand_in(&outer, name) && is_same(&own, &outer, name, DEEPEST) {
            self.release(path)
        } else {
            Ok(())
        }
    }

    /// Opens the store of the root that holds a path.
    fn store_of(&mut self, path: &Path, make: bool) -> Result<usize> {
        let (index, _) = self.root_of(path).ok_or(REFUSED)?;
        let base = self.base.as_ref().ok_or(REFUSED)?;
        let root = self.roots.get_mut(index).ok_or(REFUSED)?;
        if root.store.is_none() {
            root.store = Some(Store::open(base, root, make)?);
        }
        Ok(index)
    }
}

/// Tells a directory from any other that was at its path before: its number, and when it was made.
pub(super) fn birth_of(directory: &OwnedFd) -> Result<Vec<u8>> {
    use rustix::fs::{StatxFlags, statx};
    let found = statx(directory, "", AtFlags::EMPTY_PATH, StatxFlags::INO | StatxFlags::BTIME)?;
    let made = found.stx_btime;
    Ok(format!("{} {}.{:09}\n", found.stx_ino, made.tv_sec, made.tv_nsec).into_bytes())
}

fn open_lock(directory: &OwnedFd, name: &str) -> Result<OwnedFd> {
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    openat(directory, name, flags, Mode::RUSR | Mode::WUSR)
}

/// Whether a root is a repository's own directory, by its name.
pub(super) fn is_inside_repository(root: &Path) -> bool {
    root.file_name() == Some(OsStr::new(".git"))
}

/// Whether a directory is a repository's own, by what is in it.
pub(super) fn is_repository(real: &OwnedFd, directory: &Path) -> bool {
    ["HEAD", "objects", "refs"]
        .iter()
        .all(|name| statat(real, directory.join(name), AtFlags::empty()).is_ok())
}

/// What the configuration of a root's repository names as hooks, or includes.
pub(super) fn named_as_code(root: &Root) -> Vec<PathBuf> {
    let Ok(bytes) = store::below(&root.real, Path::new(".git/config"), OFlags::RDONLY).map(store::content)
    else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
    let hooks = git_config::values(&text, "core", "hookspath").into_iter().map(|path| root.path.join(path));
    let included =
        ["include", "includeif"].into_iter().flat_map(|section| git_config::values(&text, section, "path"));
    let included = included.map(|path| root.path.join(".git").join(path));
    let inside = hooks.chain(included).map(|path| lexical(&path));
    inside.filter(|path| path.starts_with(&root.path) && *path != root.path).collect()
}

/// Whether what a file says leads to a repository of this workspace.
fn leads_home(path: &Path, bytes: &[u8], tops: &[&Path]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let text = text.trim_end_matches(['\n', '\r']);
    if path.file_name() == Some(OsStr::new("commondir")) {
        return text == "../..";
    }
    let (Some(named), Some(parent)) = (text.strip_prefix("gitdir: "), path.parent()) else { return false };
    let target = lexical(&parent.join(named));
    let is_plain = !named.contains(['\n', '\r', '\0']);
    let parts: Vec<&OsStr> = target.components().map(|part| part.as_os_str()).collect();
    let known = parts.iter().position(|name| *name == ".git").and_then(|at| parts.get(at + 1));
    let is_part = known.is_some_and(|name| *name == "worktrees" || *name == "modules");
    is_plain && is_part && tops.iter().any(|top| target.starts_with(top))
}

fn lexical(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(clean.pop()),
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

fn read(directory: &OwnedFd, name: &OsStr) -> Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = openat(directory, name, flags, Mode::empty())?;
    if FileType::from_raw_mode(rustix::fs::fstat(&open)?.st_mode) != FileType::RegularFile {
        return Err(Errno::INVAL);
    }
    store::content(open).map_err(|error| errno(&error))
}

fn reopen(directory: &OwnedFd, name: &OsStr) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(directory, name, flags, Mode::empty())
}

fn make(directory: &OwnedFd, name: &OsStr, making: Making) -> Result<()> {
    match making {
        Making::Directory => mkdirat(directory, name, Mode::from_raw_mode(0o755)),
        Making::File => {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
            openat(directory, name, flags, Mode::from_raw_mode(0o644)).map(drop)
        }
    }
}

/// Makes what something is mounted on; known by its mode.
fn stand_in(directory: &OwnedFd, name: &OsStr, is_directory: bool) -> Result<()> {
    if is_directory {
        mkdirat(directory, name, STAND_IN)?;
    } else {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDONLY | OFlags::CLOEXEC;
        openat(directory, name, flags, STAND_IN)?;
    }
    Ok(rustix::fs::chmodat(directory, name, STAND_IN, AtFlags::empty())?)
}

/// Removes what stands in for something, if that is what it is.
pub(super) fn remove_stand_in(real: &OwnedFd, relative: &Path) {
    let Some(name) = relative.file_name() else { return };
    let Ok(outer) = store::directory(real, relative.parent().unwrap_or(Path::new(""))) else { return };
    if store::is_stand_in(&outer, name) {
        let _ = unlinkat(&outer, name, AtFlags::empty());
        let _ = unlinkat(&outer, name, AtFlags::REMOVEDIR);
    }
}

fn is_empty_directory(directory: &OwnedFd, name: &OsStr) -> bool {
    reopen(directory, name).is_ok_and(|open| store::names(&open).is_ok_and(|names| names.is_empty()))
}

fn has_no_hooks(repository: &OwnedFd) -> bool {
    let names = match reopen(repository, OsStr::new("hooks")) {
        Ok(open) => store::names(&open).unwrap_or_else(|_| vec!["unreadable".into()]),
        Err(Errno::NOENT) => return true,
        Err(_) => return false,
    };
    names.iter().all(|name| name.to_string_lossy().ends_with(".sample"))
}

/// Whether the same is in two directories under a name.
fn is_same(one: &OwnedFd, other: &OwnedFd, name: &OsStr, depth: usize) -> bool {
    let of = |directory| statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    let (Ok(left), Ok(right)) = (of(one), of(other)) else { return false };
    let kind = FileType::from_raw_mode(left.st_mode);
    if kind != FileType::from_raw_mode(right.st_mode) || left.st_mode & 0o111 != right.st_mode & 0o111 {
        return false;
    }
    match kind {
        FileType::RegularFile => {
            left.st_size == right.st_size
                && matches!((read(one, name), read(other, name)), (Ok(left), Ok(right)) if left == right)
        }
        FileType::Directory => {
            let (Ok(left), Ok(right)) = (reopen(one, name), reopen(other, name)) else { return false };
            let (Ok(names), Ok(others)) = (store::names(&left), store::names(&right)) else { return false };
            depth > 0 && names == others && names.iter().all(|name| is_same(&left, &right, name, depth - 1))
        }
        _ => false,
    }
}

/// Visits what is in a store; `visit` says whether to go on below.
fn walk(top: &OwnedFd, path: &Path, visit: &mut dyn FnMut(&Path, Making) -> bool) {
    if path.components().count() > DEEPEST {
        return;
    }
    let Ok(open) = store::below(top, path, OFlags::RDONLY | OFlags::DIRECTORY) else { return };
    for name in store::names(&open).unwrap_or_default() {
        let below = path.join(&name);
        let Ok(found) = statat(&open, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let is_directory = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        let making = if is_directory { Making::Directory } else { Making::File };
        if visit(&below, making) && is_directory {
            walk(top, &below, visit);
        }
    }
}
