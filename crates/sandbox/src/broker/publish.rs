//! Publishing what is harmless of what is held back.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, statat, unlinkat};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use super::held::{REFUSED, Result};
use super::lookup::Place;
use super::repository::leads_home;
use super::store::{self, STAND_IN, errno, read, reopen};
use super::{Broker, Root};
use crate::git_config::{self, Judged};
use crate::names::{Kind, Making, Ruling};

/// Deeper than this nothing is compared.
const DEEPEST: usize = 64;

impl Broker {
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
        unlinkat(&old.parent, &old.name, AtFlags::empty())
    }

    /// Publishes pointers that nobody writes any more: a session may go on for days, and others want to see its trees.
    pub(super) fn settle_pointers(&mut self) {
        let pointers = self.units.iter().filter(|unit| unit.kind == Kind::Pointer);
        for path in pointers.map(|unit| unit.path.clone()).collect::<Vec<_>>() {
            if self.is_written(&path) == Ok(false) {
                let _ = self.settle(&path, Kind::Pointer);
            }
        }
    }

    /// Whether anybody has what is held back of one file open for writing, or has not written anything yet.
    fn is_written(&self, path: &Path) -> Result<bool> {
        let (root, relative) = self.root_of(path).ok_or(REFUSED)?;
        let store = self.roots.get(root).and_then(|root| root.store.as_ref()).ok_or(REFUSED)?;
        let open = store::below(&store.files, relative, rustix::fs::OFlags::RDONLY)?;
        Ok(rustix::fs::fstat(&open)?.st_size == 0 || super::notify::has_writers(&open))
    }

    /// Publishes whatever is harmless by now.
    pub(super) fn settle_all(&mut self) {
        let units: Vec<_> = self.units.iter().map(|unit| (unit.path.clone(), unit.kind)).collect();
        for (path, kind) in units {
            let _ = self.settle(&path, kind);
        }
    }

    /// Publishes what is harmless of one thing, all of it if it can.
    fn settle(&mut self, path: &Path, kind: Kind) -> Result<()> {
        if kind == Kind::Code {
            return self.release_unchanged(path);
        }
        if kind == Kind::Configuration {
            self.catch_up(path)?;
        }
        let (bytes, mode) = self.held_bytes(path)?;
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
    pub(super) fn catch_up(&mut self, path: &Path) -> Result<()> {
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
            Kind::Configuration => {
                let theirs = self.outside(path).unwrap_or_default();
                Some(git_config::judge(bytes, &theirs, path.parent()?, &tops))
            }
            Kind::Pointer => {
                let held = if leads_home(path, bytes, &tops) { Vec::new() } else { vec!["a pointer".into()] };
                Some(Judged { harmless: None, held })
            }
            Kind::Code => None,
        }
    }

    /// What is really there.
    fn outside(&self, path: &Path) -> Result<Vec<u8>> {
        let (root, relative) = self.root_of(path).ok_or(REFUSED)?;
        let Root { real, .. } = self.roots.get(root).ok_or(REFUSED)?;
        let outer = store::directory(real, relative.parent().unwrap_or(Path::new("")))?;
        read(&outer, relative.file_name().ok_or(REFUSED)?)
    }

    pub(super) fn tops(&self) -> Vec<&Path> {
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
            uncover(path)?;
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
        let mode = if mode.is_empty() || mode == STAND_IN {
            Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH
        } else {
            mode
        };
        let mode = mode & !(Mode::XUSR | Mode::XGRP | Mode::XOTH);
        // What only stands in is filled where it is: nobody may see it empty for as long as it takes to replace it.
        if store::is_stand_in(&outer, name) {
            return store::fill(&outer, name, bytes, mode).map_err(|error| errno(&error));
        }
        if at.is_some() {
            uncover(path)?;
        }
        let put = store::replace(&outer, name, bytes, mode);
        if let Some(at) = at {
            let unit = self.units.remove(at);
            self.show(root, path, unit.kind)?;
        }
        put.map_err(|error| errno(&error))
    }

    /// It is held back no longer: its place shows what is really there.
    pub(super) fn release(&mut self, path: &Path) -> Result<()> {
        if let Some(at) = self.units.iter().position(|unit| unit.path == *path) {
            uncover(path)?;
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
}

/// Takes away what is mounted over a place, if it still is.
fn uncover(path: &Path) -> Result<()> {
    match unmount(path, UnmountFlags::DETACH) {
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(error) => Err(error),
    }
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
