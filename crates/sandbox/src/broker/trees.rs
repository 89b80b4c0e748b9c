//! Linked trees of a repository that git makes beside it.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, statat};
use rustix::io::Errno;

use super::{Broker, Root, store};
use crate::{mounts, names};

impl Broker {
    /// Whether git is about to make a linked tree there: it has begun to note one of that name down, and not yet where. It
    /// has to be a new directory in one that is no part of a repository, by a name that means nothing to anybody.
    pub(super) fn is_place_for_tree(&self, path: &Path) -> bool {
        let Some(name) = path.file_name() else { return false };
        let is_free = |(ground, real): &(PathBuf, OwnedFd)| {
            let Ok(relative) = path.strip_prefix(ground) else { return false };
            let is_whole =
                |place: &Path| statat(real, place.join(".git"), AtFlags::SYMLINK_NOFOLLOW).is_err();
            let around = relative.ancestors().skip(1).all(is_whole);
            around && !names::is_telling(relative) && !relative.as_os_str().is_empty()
        };
        let covers = |kept: &PathBuf| path.starts_with(kept);
        !self.kept.iter().any(covers)
            && self.grounds.iter().any(is_free)
            && self.roots.iter().any(|root| begins_a_tree(root, name))
    }

    /// Makes a directory beside the workspace, and makes it part of that.
    pub(super) fn make_tree(&mut self, path: &Path, mode: Mode) -> Result<(), Errno> {
        let ground = self.grounds.iter().find(|(ground, _)| path.starts_with(ground)).ok_or(Errno::ROFS)?;
        let (top, real) = ground;
        let relative = path.strip_prefix(top).map_err(|_| Errno::ROFS)?;
        let name = relative.file_name().ok_or(Errno::EXIST)?;
        let parent = store::directory(real, relative.parent().unwrap_or(Path::new("")))?;
        mkdirat(&parent, name, mode)?;
        let failed = |_| Errno::IO;
        let tree = mounts::copy_at(&parent, Path::new(name)).map_err(failed)?;
        let real = store::below(&parent, Path::new(name), OFlags::PATH | OFlags::DIRECTORY)?;
        mounts::attach(tree, path).map_err(failed)?;
        // The innermost comes first.
        self.roots.insert(0, Root { path: path.to_owned(), real, store: None });
        Ok(())
    }
}

fn begins_a_tree(root: &Root, tree: &OsStr) -> bool {
    let places = [Path::new(".git/worktrees"), Path::new("worktrees")];
    places.iter().any(|place| {
        let Ok(trees) = store::below(&root.real, place, OFlags::RDONLY | OFlags::DIRECTORY) else {
            return false;
        };
        // Git adds a number where there is one of that name already.
        let is_its = |name: &OsString| {
            let rest = name.as_bytes().strip_prefix(tree.as_bytes());
            rest.is_some_and(|rest| rest.iter().all(u8::is_ascii_digit))
        };
        let is_open = |name: &OsString| {
            is_its(name) && statat(&trees, Path::new(name).join("gitdir"), AtFlags::SYMLINK_NOFOLLOW).is_err()
        };
        store::names(&trees).is_ok_and(|names| names.iter().any(is_open))
    })
}
