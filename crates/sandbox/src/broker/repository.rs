//! Repositories, by what is in them.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, OFlags, statat};
use rustix::io::Errno;

use super::held::{REFUSED, Result};
use super::store::{self, read, reopen};
use super::{Broker, Root};
use crate::git_config;

impl Broker {
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
pub(super) fn leads_home(path: &Path, bytes: &[u8], tops: &[&Path]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let text = text.trim_end_matches(['\n', '\r']);
    if path.file_name() == Some(OsStr::new("commondir")) {
        return text == "../..";
    }
    let (Some(named), Some(parent)) = (text.strip_prefix("gitdir: "), path.parent()) else { return false };
    let target = lexical(&parent.join(named));
    let is_plain = !named.contains(['\n', '\r', '\0']);
    let parts: Vec<&OsStr> = target.components().map(std::path::Component::as_os_str).collect();
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

fn has_no_hooks(repository: &OwnedFd) -> bool {
    let names = match reopen(repository, OsStr::new("hooks")) {
        Ok(open) => store::names(&open).unwrap_or_else(|_| vec!["unreadable".into()]),
        Err(Errno::NOENT) => return true,
        Err(_) => return false,
    };
    names.iter().all(|name| name.to_string_lossy().ends_with(".sample"))
}
