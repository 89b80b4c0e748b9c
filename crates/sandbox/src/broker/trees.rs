//! Linked trees of a repository that git makes beside it.

use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, statat};
use rustix::io::Errno;

use super::{Broker, Root, store};
use crate::mounts;

impl Broker {
    /// Whether git is about to make a linked tree there: it has begun to note one down, and not yet where.
    pub(super) fn is_place_for_tree(&self, path: &Path) -> bool {
        let is_around = |(ground, _): &(PathBuf, _)| path.starts_with(ground) && path != ground;
        self.grounds.iter().any(is_around) && self.roots.iter().any(begins_a_tree)
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

fn begins_a_tree(root: &Root) -> bool {
    let places = [Path::new(".git/worktrees"), Path::new("worktrees")];
    places.iter().any(|place| {
        let Ok(trees) = store::below(&root.real, place, OFlags::RDONLY | OFlags::DIRECTORY) else {
            return false;
        };
        let is_open = |name: &std::ffi::OsString| {
            statat(&trees, Path::new(name).join("gitdir"), AtFlags::SYMLINK_NOFOLLOW).is_err()
        };
        store::names(&trees).is_ok_and(|names| names.iter().any(is_open))
    })
}
