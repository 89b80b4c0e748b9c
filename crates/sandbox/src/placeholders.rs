//! Keeping missing things missing.
//!
//! A protected path that does not exist could be made by a command. A mount needs something to stand on, so an empty
//! directory is made in its place for as long as a command may run, covered in every sandbox, and removed afterwards.
//! Git does not see empty directories. Several servers may share one: each holds a lock on it, and the last to let
//! go removes it. Its mode marks it from its first moment on, so that nobody takes it for something that is there, not
//! even when a crash left it behind.

use std::collections::HashMap;
use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use runward_model::Fence;
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::enclosure::root_of;
use crate::mounts;

/// How often a placeholder is tried to be had while another server removes its own, which takes a moment.
const TRIES: usize = 200;

/// How long such a moment is.
const SOON: Duration = Duration::from_micros(500);

/// No directory that anybody keeps something in has this mode: its owner may look into it, and it is sticky.
const MARK: Mode = Mode::SVTX.union(Mode::RUSR).union(Mode::XUSR);

/// The placeholders of this process, and how many sandboxes need each.
#[derive(Debug, Default)]
pub struct Placeholders {
    held: HashMap<PathBuf, (OwnedFd, usize)>,
}

impl Placeholders {
    /// Makes a placeholder for each protected path that is missing; returns where they are.
    pub fn place(&mut self, fence: &Fence) -> io::Result<Vec<CString>> {
        let mut places: Vec<PathBuf> = Vec::new();
        for path in fence.protected.iter().map(|path| mounts::path(path)) {
            let missing = root_of(path, fence).and_then(|root| first_missing(root, path));
            if let Some(place) = missing
                && !places.contains(&place)
                && self.hold(&place)?
            {
                places.push(place);
            }
        }
        Ok(places.into_iter().filter_map(|place| CString::new(place.as_os_str().as_bytes()).ok()).collect())
    }

    /// Lets go of what `place` returned; what nobody needs is removed.
    pub fn remove(&mut self, places: &[CString]) {
        for place in places.iter().map(|place| mounts::path(place)) {
            let Some((_, count)) = self.held.get_mut(place) else { continue };
            *count -= 1;
            if *count == 0
                && let Some((directory, _)) = self.held.remove(place)
            {
                let alone = rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive).is_ok();
                if alone && is_same(&directory, place) {
                    take_away(&directory, place);
                }
            }
        }
    }

    /// Whether there is a placeholder now. There is none where nobody can make anything.
    fn hold(&mut self, place: &Path) -> io::Result<bool> {
        if let Some((directory, count)) = self.held.get_mut(place)
            && is_same(directory, place)
        {
            *count += 1;
            return Ok(true);
        }
        for _ in 0..TRIES {
            let (parent, name) = parent_of(place)?;
            match rustix::fs::mkdirat(&parent, name, MARK) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(Errno::ACCESS | Errno::ROFS | Errno::PERM) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
            if let Some(directory) = locked(&parent, name, place)? {
                self.held.insert(place.to_owned(), (directory, 1));
                return Ok(true);
            }
            std::thread::sleep(SOON);
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }
}

impl Drop for Placeholders {
    fn drop(&mut self) {
        let places: Vec<CString> =
            self.held.keys().filter_map(|place| CString::new(place.as_os_str().as_bytes()).ok()).collect();
        self.held.values_mut().for_each(|(_, count)| *count = 1);
        self.remove(&places);
    }
}

/// Where the way to a path ends; nothing but a placeholder is nothing.
fn first_missing(root: &Path, path: &Path) -> Option<PathBuf> {
    let mut place = root.to_owned();
    for part in path.strip_prefix(root).ok()? {
        place.push(part);
        match rustix::fs::lstat(&place) {
            Err(Errno::NOENT) => return Some(place),
            Ok(found) if is_marked(&found, &place) => return Some(place),
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => {}
            // What is behind a file or a link is somewhere else, or nowhere.
            Ok(_) | Err(_) => return None,
        }
    }
    None
}

/// Removes a placeholder. One that somebody has filled meanwhile is theirs, and gets the mode of any other directory.
fn take_away(directory: &OwnedFd, place: &Path) {
    let removed =
        parent_of(place).map(|(parent, name)| rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR));
    if matches!(removed, Ok(Err(Errno::NOTEMPTY | Errno::EXIST))) {
        let _ = rustix::fs::fchmod(directory, Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH);
    }
}

/// The directory that a placeholder stands in, reached without symbolic links, and its name there.
fn parent_of(place: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    match (place.parent(), place.file_name()) {
        (Some(parent), Some(name)) => Ok((mounts::find(parent)?, name)),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// A placeholder that nobody removes from now on; `None` while somebody else is removing it.
fn locked(parent: &OwnedFd, name: &OsStr, place: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = match rustix::fs::openat(parent, name, flags, Mode::empty()) {
        Ok(directory) => directory,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match rustix::fs::flock(&directory, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(is_same(&directory, place).then_some(directory)),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What is at a path: device and file number, or nothing but a placeholder.
pub fn identity(path: &CStr) -> Option<(u64, u64)> {
    let found = rustix::fs::lstat(path).ok()?;
    (!is_marked(&found, mounts::path(path))).then_some((found.st_dev, found.st_ino))
}

/// Whether it is nothing but a placeholder: one that somebody has filled is a directory like any other.
fn is_marked(found: &Stat, place: &Path) -> bool {
    let directory = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
    let marked = directory && Mode::from_raw_mode(found.st_mode) == MARK;
    marked
        && match std::fs::read_dir(place) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
}

/// Whether `place` still is what is open.
fn is_same(directory: &OwnedFd, place: &Path) -> bool {
    let (open, there) = (rustix::fs::fstat(directory), rustix::fs::lstat(place));
    matches!((open, there), (Ok(open), Ok(there)) if (open.st_dev, open.st_ino) == (there.st_dev, there.st_ino))
}

#[cfg(test)]
mod tests {
    use super::*;
    use runward_model::{Network, Profile, Tier};
    use std::fs;

    fn fence(root: &Path, protected: &[&str]) -> Fence {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).unwrap();
        let mut fence = Fence::new(Profile::WorkspaceWrite, Tier::Full, Network::Off, CString::default());
        fence.writable = vec![text(root)];
        fence.protected = protected.iter().map(|name| text(&root.join(name))).collect();
        fence
    }

    fn names(root: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(root)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_missing_is_held_and_removed_again() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join(".idea")).unwrap();
        let fence = fence(root.path(), &[".git/hooks", ".git/config", ".idea", ".mcp.json"]);
        let mut placeholders = Placeholders::default();
        let places = placeholders.place(&fence).unwrap();
        assert_eq!(names(root.path()), [".git", ".idea", ".mcp.json"]);
        assert_eq!(places.len(), 2);
        placeholders.remove(&places);
        assert_eq!(names(root.path()), [".idea"]);
    }

    #[test]
    fn the_last_to_let_go_removes_it() {
        let root = tempfile::tempdir().unwrap();
        let fence = fence(root.path(), &[".vscode"]);
        let (mut one, mut two) = (Placeholders::default(), Placeholders::default());
        let first = one.place(&fence).unwrap();
        let again = one.place(&fence).unwrap();
        let second = two.place(&fence).unwrap();
        one.remove(&first);
        one.remove(&again);
        assert_eq!(names(root.path()), [".vscode"], "another server still needs it");
        two.remove(&second);
        assert_eq!(names(root.path()), Vec::<String>::new());
    }

    #[test]
    fn servers_that_come_and_go_at_once_do_not_disturb_each_other() {
        let root = tempfile::tempdir().unwrap();
        let fence = fence(root.path(), &[".vscode", ".git/hooks"]);
        let come_and_go = || {
            for _ in 0..200 {
                let mut own = Placeholders::default();
                let places = own.place(&fence).unwrap();
                assert_eq!(places.len(), 2);
                own.remove(&places);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(come_and_go);
            }
        });
        assert_eq!(names(root.path()), Vec::<String>::new());
    }

    #[test]
    fn one_that_was_left_behind_is_known_and_what_somebody_filled_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let fence = fence(root.path(), &[".vscode"]);
        let mut killed = Placeholders::default();
        killed.place(&fence).unwrap();
        killed.held.drain().for_each(drop);
        assert_eq!(names(root.path()), [".vscode"]);
        let mut next = Placeholders::default();
        let places = next.place(&fence).unwrap();
        assert_eq!(places.len(), 1);
        fs::write(root.path().join(".vscode/settings.json"), "{}").unwrap();
        drop(next);
        assert_eq!(names(root.path()), [".vscode"]);
    }
}
