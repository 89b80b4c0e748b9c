//! What a person does about what is held back: looks at it, takes it over, or discards it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use runward_model::Fence;
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, flock, openat, statat};

use super::held::{BIRTH, birth_of, lock_name, open_lock};
use super::store::{self, remove_stand_in};
use crate::mounts;
use crate::names::{self, Making, is_repository_at};

/// Something that is held back of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldBack {
    /// The workspace's directory.
    pub root: PathBuf,
    /// Where it belongs below that.
    pub path: PathBuf,
    /// Where it is kept meanwhile.
    pub kept: PathBuf,
}

/// All that is held back in a store, by workspace. What belonged to directories that are gone is left out.
pub fn held_back(base: &Path) -> io::Result<Vec<HeldBack>> {
    let mut found = Vec::new();
    let entries = match fs::read_dir(base) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let Some(root) = entry.file_name().to_str().and_then(store::root_of_store) else { continue };
        let files = entry.path().join("files");
        let Ok(open) = open_directory(&root) else { continue };
        let birth = fs::read(entry.path().join(BIRTH)).unwrap_or_default();
        if birth_of(&open).is_ok_and(|own| own == birth) {
            collect(&root, &files, Path::new(""), &mut found);
        }
    }
    found.sort();
    Ok(found)
}

/// Removes what was left standing in for what is held back where commands of this fence may write: they may have been
/// killed with their sandbox.
pub fn sweep(fence: &Fence) {
    let Some(base) = fence.held.as_ref().map(|held| mounts::path(held)) else { return };
    for root in super::guarded(fence) {
        let Some(files) = store::store_name(root).map(|name| base.join(name).join("files")) else { continue };
        let mut found = Vec::new();
        collect(root, &files, Path::new(""), &mut found);
        found.iter().for_each(HeldBack::remove_unused_stand_in);
    }
}

/// The same for all workspaces in a store.
pub fn sweep_all(base: &Path) {
    held_back(base).unwrap_or_default().iter().for_each(HeldBack::remove_unused_stand_in);
}

impl HeldBack {
    /// Removes what stands in for it, unless a command still sees it there.
    fn remove_unused_stand_in(&self) {
        let lock =
            self.store().and_then(|own| Ok(open_lock(&open_directory(&own)?, &lock_name(&self.path))?));
        let Ok(lock) = lock else { return };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok()
            && let Ok(top) = open_directory(&self.root)
        {
            remove_stand_in(&top, &self.path);
        }
    }

    /// Puts it in its place, where it works from now on.
    pub fn accept(&self) -> io::Result<()> {
        let _lock = self.lock()?;
        let top = open_directory(&self.root)?;
        remove_stand_in(&top, &self.path);
        let (name, parent) = self.name_and_parent()?;
        let to = store::directory(&top, parent)?;
        let from = open_directory(self.kept.parent().unwrap_or(&self.kept))?;
        // What is not in it any more is gone.
        let mut draft = std::ffi::OsString::from(store::DRAFT);
        draft.push(name);
        store::remove(&to, &draft)?;
        store::copy(&from, name, &to, &draft)?;
        if from_is_directory(&from, name) {
            store::remove(&to, name)?;
        }
        rustix::fs::renameat(&to, &draft, &to, name)?;
        self.forget()
    }

    /// Removes it. What is in its place stays as it is.
    pub fn discard(&self) -> io::Result<()> {
        let _lock = self.lock()?;
        remove_stand_in(&open_directory(&self.root)?, &self.path);
        self.forget()
    }

    fn forget(&self) -> io::Result<()> {
        let (name, parent) = self.name_and_parent()?;
        let own = open_directory(&self.store()?)?;
        for tree in ["files", "agreed"] {
            if let Ok(directory) = store::directory(&own, &Path::new(tree).join(parent)) {
                store::remove(&directory, name)?;
            }
        }
        Ok(())
    }

    fn name_and_parent(&self) -> io::Result<(&OsStr, &Path)> {
        let name = self.path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok((name, self.path.parent().unwrap_or(Path::new(""))))
    }

    /// The directory of its workspace in the store.
    fn store(&self) -> io::Result<PathBuf> {
        let depth = self.path.components().count() + 1;
        self.kept.ancestors().nth(depth).map(Path::to_owned).ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }

    fn lock(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let lock = openat(open_directory(&self.store()?)?, "changing", flags, Mode::RUSR | Mode::WUSR)?;
        flock(&lock, FlockOperation::LockExclusive)?;
        Ok(lock)
    }
}

/// Opens a directory, links on the way to it included: these paths are this program's own, or a person's.
fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Units are what a name of its own holds back; directories on the way to them are not.
fn collect(root: &Path, files: &Path, below: &Path, found: &mut Vec<HeldBack>) {
    let Ok(open) = open_directory(&files.join(below)) else { return };
    for name in store::names(&open).unwrap_or_default() {
        let path = below.join(&name);
        let Ok(entry) = statat(&open, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let is_directory = FileType::from_raw_mode(entry.st_mode) == FileType::Directory;
        let making = if is_directory { Making::Directory } else { Making::File };
        let is_unit = names::unit(root, &path, making, is_repository_at).is_some();
        if is_directory && !is_unit {
            collect(root, files, &path, found);
        } else if !name.as_bytes().starts_with(store::DRAFT.as_bytes()) {
            found.push(HeldBack { root: root.to_owned(), kept: files.join(&path), path });
        }
    }
}

fn from_is_directory(directory: &OwnedFd, name: &OsStr) -> bool {
    let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
}
