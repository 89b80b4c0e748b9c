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
        // A link counts as what it may lead to one day.
        let is_there = |name: &str| statat(real, directory.join(name), AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let place = top.join(directory);
        let is_usual = place.iter().filter(|part| *part == ".git").count() == 1 && place.ends_with(".git");
        let others = ["HEAD", "objects", "refs"].into_iter().filter(|name| *added != **name);
        if is_usual || !others.clone().all(is_there) || is_there(&added.to_string_lossy()) {
            return Ok(());
        }
        let open = store::directory(real, directory)?;
        let config = match statat(&open, "config", AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => true,
            // It stays what it is: nobody else has a name for it, or has it open for writing.
            Ok(found) if found.st_nlink == 1 && !is_written(&open, "config") => {
                read(&open, OsStr::new("config")).is_ok_and(|bytes| {
                    git_config::judge(&bytes, b"", &top.join(directory), &self.tops()).held.is_empty()
                })
            }
            Ok(_) | Err(_) => false,
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
        .all(|name| statat(real, directory.join(name), AtFlags::SYMLINK_NOFOLLOW).is_ok())
}

/// What the configurations of these roots' repositories name as hooks, or include. A relative path of hooks means another
/// directory in every tree.
pub(super) fn named_as_code(roots: &[Root]) -> Vec<PathBuf> {
    let mut named = Vec::new();
    for root in roots {
        for (git, config) in [(".git", ".git/config"), ("", "config")] {
            let Ok(open) = store::below(&root.real, Path::new(config), OFlags::RDONLY) else { continue };
            let text = String::from_utf8_lossy(&store::content(open).unwrap_or_default()).into_owned();
            for path in git_config::mentioned(&text, "hookspath") {
                named.extend(roots.iter().map(|root| root.path.join(&path)));
            }
            named.extend(git_config::mentioned(&text, "path").map(|path| root.path.join(git).join(path)));
        }
    }
    let inside = |path: &PathBuf| roots.iter().any(|root| path.starts_with(&root.path) && *path != root.path);
    named.iter().map(|path| lexical(path)).filter(inside).collect()
}

/// Whether somebody has a file open for writing.
fn is_written(directory: &OwnedFd, name: &str) -> bool {
    let open = store::below(directory, Path::new(name), OFlags::RDONLY);
    open.is_ok_and(|open| super::notify::has_writers(&open))
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
    let behind = parts.iter().position(|name| *name == ".git").and_then(|at| parts.get(at + 1..));
    // Only where git itself keeps them: anything further inside could be anybody's.
    let data = ["objects", "refs", "logs", "info", "hooks", "worktrees", ".git"];
    let is_part = match behind.and_then(<[&OsStr]>::split_first) {
        Some((first, rest)) if *first == "worktrees" => rest.len() == 1,
        Some((first, rest)) if *first == "modules" => {
            !rest.is_empty() && !rest.iter().any(|part| data.iter().any(|name| part == name))
        }
        _ => false,
    };
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
