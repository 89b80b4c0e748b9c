//! Which directories make up one git repository. Nothing is believed that one side alone says: whoever may write a
//! `.git` file must not name somebody else's repository by it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Larger files are not what they are called.
const LARGEST: u64 = 64 * 1024;

/// Of more linked trees than this, the rest are not looked at.
const MOST_TREES: usize = 64;

/// Whether a repository, or a tree of one, begins here.
pub(crate) fn begins_at(directory: &Path) -> bool {
    let found = fs::metadata(directory.join(".git"));
    found.is_ok_and(|found| found.is_dir() || found.is_file())
}

/// What else belongs to the repository that begins here: its linked trees or, of a linked tree, the directory that it
/// shares with the others.
pub(crate) fn relatives(tree: &Path) -> Vec<PathBuf> {
    let own = tree.join(".git");
    if !own.is_dir() {
        return shared_by(tree).into_iter().collect();
    }
    let entries = fs::read_dir(own.join("worktrees")).into_iter().flatten().flatten().take(MOST_TREES);
    entries.filter_map(|entry| linked(&entry.path())).collect()
}

/// Whose repository's directory this is: that of the tree around it, or its own.
pub(crate) fn owner(git_directory: &Path) -> &Path {
    let inner = git_directory.ancestors().filter(|lead| lead.file_name() == Some(OsStr::new(".git")));
    inner.last().and_then(Path::parent).unwrap_or(git_directory)
}

/// Whether `inner` is a submodule of the repository that `outer` is a tree of.
pub(crate) fn is_submodule(inner: &Path, outer: &Path) -> bool {
    let (Some(inner_own), Some(outer_own)) = (own_directory(inner), own_directory(outer)) else {
        return false;
    };
    let back = || Some(fs::canonicalize(inner_own.join(work_tree(&inner_own)?)).ok()? == inner);
    inner_own.starts_with(outer_own.join("modules")) && back() == Some(true)
}

/// The directory of a tree's repository, or the part of it that is this tree's alone.
fn own_directory(tree: &Path) -> Option<PathBuf> {
    let place = tree.join(".git");
    if place.is_dir() {
        return fs::canonicalize(place).ok();
    }
    let named = line(&place)?;
    let named = OsStr::from_bytes(named.strip_prefix(b"gitdir:")?.trim_ascii());
    fs::canonicalize(tree.join(named)).ok()
}

/// What a linked tree shares with the others, if it is known there.
fn shared_by(tree: &Path) -> Option<PathBuf> {
    let own = own_directory(tree)?;
    let known = linked(&own)? == tree;
    let common = own.join(OsStr::from_bytes(&line(&own.join("commondir"))?));
    let common = fs::canonicalize(common).ok().filter(|common| own.starts_with(common.join("worktrees")));
    common.filter(|_| known)
}

/// The linked tree that a repository keeps this directory for, if the tree says so as well.
fn linked(own: &Path) -> Option<PathBuf> {
    let place = own.join(OsStr::from_bytes(&line(&own.join("gitdir"))?));
    let tree = fs::canonicalize(place.parent()?).ok()?;
    (own_directory(&tree)? == fs::canonicalize(own).ok()?).then_some(tree)
}

/// The tree that a submodule's own configuration names.
fn work_tree(own: &Path) -> Option<PathBuf> {
    let text = small(&own.join("config"))?;
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let value = lines.find_map(|line| {
        line.strip_prefix(b"worktree")?.trim_ascii_start().strip_prefix(b"=").map(<[u8]>::trim_ascii)
    })?;
    Some(PathBuf::from(OsStr::from_bytes(value)))
}

/// The one line of a small file.
fn line(file: &Path) -> Option<Vec<u8>> {
    Some(small(file)?.trim_ascii().to_vec()).filter(|line| !line.is_empty() && !line.contains(&b'\n'))
}

fn small(file: &Path) -> Option<Vec<u8>> {
    let found = fs::metadata(file).ok()?;
    if found.is_file() && found.len() <= LARGEST { fs::read(file).ok() } else { None }
}
