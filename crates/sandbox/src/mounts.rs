//! Mounts, by descriptors: a tree is copied, changed while nobody sees it, and put in its place.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::mount::{MoveMountFlags, OpenTreeFlags, UnmountFlags, move_mount, open_tree, unmount};

/// Opens a place without opening what is there.
pub(crate) const FIND: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// The kernel's `struct mount_attr`.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

const READ_ONLY: u64 = 1;

/// No program runs as its owner, and no device file is a device.
const DEAD: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// Whether something also holds for the mounts below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// This one alone.
    One,
    /// Those below as well.
    All,
}

/// A path of the wire as one of ours.
pub(crate) fn path(text: &CStr) -> &Path {
    Path::new(OsStr::from_bytes(text.to_bytes()))
}

/// The place that a path names.
pub(crate) fn open(text: &CStr) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(text, FIND, Mode::empty())?)
}

/// The place that a path names, without a symbolic link on the way: somebody may swap one in while this looks. A link
/// at its end is found itself.
pub(crate) fn find(place: &Path) -> io::Result<OwnedFd> {
    let flags = FIND | OFlags::NOFOLLOW;
    Ok(openat2(CWD, place, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

/// A copy of what is mounted at `place` and below, in no place yet.
pub(crate) fn copy(place: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    Ok(open_tree(find(place)?, "", flags)?)
}

/// What is mounted at `place` and below, taken away from there.
pub(crate) fn take(place: &Path) -> io::Result<OwnedFd> {
    let tree = copy(place)?;
    unmount(place, UnmountFlags::DETACH)?;
    Ok(tree)
}

/// The same of something below an open directory of our own.
pub(crate) fn copy_at(directory: impl AsFd, place: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    Ok(open_tree(directory, place, flags)?)
}

/// Puts a copy, or what is mounted elsewhere, in its place, over whatever is there. A symbolic link there is covered, not followed.
pub(crate) fn attach(tree: impl AsFd, place: &Path) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, "", find(place)?, "", flags)?)
}

/// Where everything is, for [`make_read_only`].
pub(crate) fn root() -> io::Result<OwnedFd> {
    open(c"/")
}

/// Makes a copy, or a place, read-only. Device files in it are nothing but files.
pub(crate) fn make_read_only(tree: impl AsFd, depth: Depth) -> io::Result<()> {
    change(tree, depth, &Attributes { set: READ_ONLY | DEAD, ..Attributes::default() })
}

/// Makes a copy of a device read-only: it is a device all the same, but nobody changes its mode.
pub(crate) fn make_read_only_device(tree: impl AsFd) -> io::Result<()> {
    let set = READ_ONLY | libc::MOUNT_ATTR_NOSUID;
    change(tree, Depth::One, &Attributes { set, ..Attributes::default() })
}

/// Makes device files in a copy nothing but files, here and below.
pub(crate) fn without_devices(tree: impl AsFd) -> io::Result<()> {
    change(tree, Depth::All, &Attributes { set: DEAD, ..Attributes::default() })
}

/// Makes device files devices again where only this process has made them none.
pub(crate) fn with_devices(tree: impl AsFd) -> io::Result<()> {
    change(tree, Depth::One, &Attributes { clear: libc::MOUNT_ATTR_NODEV, ..Attributes::default() })
}

/// Makes a place writable that only this process has made read-only.
pub(crate) fn make_writable(tree: impl AsFd) -> io::Result<()> {
    change(tree, Depth::One, &Attributes { clear: READ_ONLY, ..Attributes::default() })
}

fn change(tree: impl AsFd, depth: Depth, attributes: &Attributes) -> io::Result<()> {
    let recursive = if depth == Depth::All { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: an open descriptor, an empty path, and a live structure of the size given.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_fd().as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | recursive,
            &raw const *attributes,
            size_of::<Attributes>(),
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Puts what is at `place` over itself, read-only: its times and attributes stay as they are, too.
pub(crate) fn protect(place: &Path) -> io::Result<()> {
    let tree = copy(place)?;
    make_read_only(&tree, Depth::All)?;
    attach(tree, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_link_is_followed_on_the_way_and_one_at_the_end_is_found_itself() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/inside")).unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        assert!(find(&root.join("real/inside")).is_ok());
        assert_eq!(find(&root.join("link/inside")).unwrap_err().raw_os_error(), Some(libc::ELOOP));
        let link = rustix::fs::fstat(find(&root.join("link")).unwrap()).unwrap();
        assert_eq!(rustix::fs::FileType::from_raw_mode(link.st_mode), rustix::fs::FileType::Symlink);
    }
}
