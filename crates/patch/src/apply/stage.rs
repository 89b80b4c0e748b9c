//! New content beside its place.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use rustix::fs::{Gid, Mode, OFlags, Uid, XattrFlags};

use super::undo::{Done, Undo};
use crate::place::{Place, Walk, reach, walk};
use crate::verify::{Like, Step};

/// Attributes that a file keeps: access lists, and what users put there. Those that grant powers go with the old content.
const KEPT: [&str; 2] = ["system.posix_acl_access", "user."];

/// A longer attribute is not copied.
const LONGEST_ATTRIBUTE: usize = 64 << 10;

/// Writes new content beside its place, making the directories above it.
pub(super) fn stage(
    step: &Step,
    beside: &OsStr,
    content: &[u8],
    like: Option<&Like>,
    undo: &mut Undo,
) -> io::Result<()> {
    let place = made(&step.target, undo)?;
    let mode = Mode::from_raw_mode(if like.is_some() { 0o600 } else { 0o666 });
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(&place.directory, beside, flags, mode)?);
    undo.push(&step.target, Done::Staged { beside: beside.to_owned() });
    file.write_all(content)?;
    like.map_or(Ok(()), |like| take_after(&file, like))
}

/// The directory of a file, made as far as it is missing.
fn made<'a>(target: &'a Path, undo: &mut Undo) -> io::Result<Place<'a>> {
    loop {
        match walk(target).map_err(io::Error::other)? {
            Walk::Whole(place) => return Ok(place),
            Walk::Part { directory, missing } => {
                let name = missing.file_name().unwrap_or_default();
                rustix::fs::mkdirat(&directory, name, Mode::from_raw_mode(0o777))?;
                undo.push(&missing, Done::Made);
            }
        }
    }
}

/// Gives a file the owner, the attributes and the mode of another.
fn take_after(file: &File, like: &Like) -> io::Result<()> {
    let own = rustix::fs::fstat(file)?;
    let mut mode = like.mode & 0o7777;
    if (own.st_uid, own.st_gid) != (like.owner, like.group) {
        let (owner, group) = (Uid::from_raw(like.owner), Gid::from_raw(like.group));
        if rustix::fs::fchown(file, Some(owner), Some(group)).is_err() {
            // The group alone can often be given; a file of another owner must not lend that one's powers.
            let _ = rustix::fs::fchown(file, None, Some(group));
            mode &= 0o777;
        }
    }
    copy_attributes(file, &like.path);
    Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?)
}

/// As far as the file system has them.
fn copy_attributes(file: &File, from: &Path) {
    let Ok(place) = reach(from) else { return };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(from) = rustix::fs::openat(&place.directory, place.name, flags, Mode::empty()) else { return };
    let mut names = vec![0; LONGEST_ATTRIBUTE];
    let Ok(length) = rustix::fs::flistxattr(&from, names.as_mut_slice()) else { return };
    names.truncate(length);
    for name in names.split(|byte| *byte == 0).filter(|name| is_kept(name)) {
        let mut value = vec![0; LONGEST_ATTRIBUTE];
        if let Ok(length) = rustix::fs::fgetxattr(&from, name, value.as_mut_slice()) {
            value.truncate(length);
            let _ = rustix::fs::fsetxattr(file, name, &value, XattrFlags::empty());
        }
    }
}

fn is_kept(name: &[u8]) -> bool {
    KEPT.iter().any(|kept| name.starts_with(kept.as_bytes()))
}
