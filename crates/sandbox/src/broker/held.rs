//! Holding back: into the store, over the place, and out again once it is harmless.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, flock, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use super::lookup;
use super::repository::is_repository;
use super::store::{self, errno, is_empty_directory, make, read, remove_stand_in, reopen, stand_in};
use super::{Broker, Root, Unit};
use crate::mounts;
use crate::names::{self, Kind, Making};

pub(super) type Result<T> = std::result::Result<T, Errno>;

/// How often a lock is tried to be had, and how long to wait in between.
const LOCK_TRIES: usize = 100;
const LOCK_PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

/// What cannot be held back is refused.
pub(super) const REFUSED: Errno = Errno::ROFS;

/// The file in a store that says which directory it is of.
pub(super) const BIRTH: &str = "root";

/// Deeper than this nothing is held back.
const DEEPEST: usize = 64;

/// What is held back of one root.
#[derive(Debug)]
pub(super) struct Store {
    /// The same paths as in the root.
    pub(super) files: OwnedFd,
    /// What configurations were outside when both sides last agreed.
    pub(super) agreed: OwnedFd,
    /// The directory that all of this is in.
    own: OwnedFd,
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
            own,
        })
    }

    /// Nobody else changes anything in it until what is returned is dropped.
    fn lock(&self) -> Result<OwnedFd> {
        let lock = open_lock(&self.own, "changing")?;
        for _ in 0..LOCK_TRIES {
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => std::thread::sleep(LOCK_PAUSE),
                locked => return locked.map(|()| lock),
            }
        }
        // Nobody is kept waiting by whoever holds it for long.
        Err(Errno::BUSY)
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
        // What may not be read must not be seen in a copy either.
        if self.leads_to_kept(path) {
            return Err(REFUSED);
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
    pub(super) fn show(&mut self, root: usize, path: &Path, kind: Kind) -> Result<()> {
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
        let showing = open_lock(&store.own, &lock_name(relative))?;
        let _ = flock(&showing, FlockOperation::LockShared);
        let tree = mounts::copy_at(&own, Path::new(name)).map_err(|error| errno(&error))?;
        mounts::attach(tree, path).map_err(|error| errno(&error))?;
        let mount = mount_of(&lookup::reopened(path)?)?;
        self.units.push(Unit { path: path.to_owned(), kind, mount, showing });
        Ok(())
    }

    /// Shows again what is seen no longer, since the host has put something else in the place below.
    pub(super) fn show_again(&mut self) {
        let is_lost =
            |unit: &&Unit| lookup::reopened(&unit.path).and_then(|open| mount_of(&open)) != Ok(unit.mount);
        let lost: Vec<(PathBuf, Kind)> =
            self.units.iter().filter(is_lost).map(|unit| (unit.path.clone(), unit.kind)).collect();
        for (path, kind) in lost {
            self.units.retain(|unit| unit.path != path);
            if let Some((root, _)) = self.root_of(&path) {
                let _ = self.show(root, &path, kind);
            }
        }
    }

    /// Opens something in what is held back, or that itself; an error where by now something else is seen there.
    pub(super) fn in_unit(&self, path: &Path) -> Result<OwnedFd> {
        let unit = self.units.iter().find(|unit| path.starts_with(&unit.path)).ok_or(Errno::STALE)?;
        let open = lookup::reopened(path)?;
        if mount_of(&open)? == unit.mount { Ok(open) } else { Err(Errno::STALE) }
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
                let name = new_relative.file_name().unwrap_or_default();
                // Where nothing below it is held back, there is nothing to move.
                let _ = store::parents(tree, new_relative)
                    .and_then(|parent| rustix::fs::renameat(tree, old_relative, parent, name));
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

    /// Takes from sight what is held back, and removes what stood in for it, unless other commands still see that.
    pub(super) fn hide_all(&mut self) {
        for Unit { path, showing, .. } in std::mem::take(&mut self.units).into_iter().rev() {
            let _ = unmount(&path, UnmountFlags::DETACH);
            let Some((root, relative)) = self.root_of(&path) else { continue };
            let Some(Root { real, .. }) = self.roots.get(root) else { continue };
            if flock(&showing, FlockOperation::NonBlockingLockExclusive).is_ok() {
                remove_stand_in(real, relative);
            }
        }
    }

    /// Opens the store of the root that holds a path.
    pub(super) fn store_of(&mut self, path: &Path, make: bool) -> Result<usize> {
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

/// The lock for what stands in for one thing.
pub(super) fn lock_name(relative: &Path) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in relative.as_os_str().as_bytes() {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("showing-{hash:016x}")
}

/// Which mount something is seen through.
fn mount_of(open: &OwnedFd) -> Result<u64> {
    use rustix::fs::{StatxFlags, statx};
    Ok(statx(open, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?.stx_mnt_id)
}

pub(super) fn open_lock(directory: &OwnedFd, name: &str) -> Result<OwnedFd> {
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    openat(directory, name, flags, Mode::RUSR | Mode::WUSR)
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
