//! Trees that commands have written, as deep and with such modes as they liked: measured, and removed.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, RawDir, flock, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use crate::mounts;

/// What is deeper than this in a cache is not measured.
const DEEPEST: usize = 128;

/// How many bytes these directories take; `None` where one is made to be too deep, or not to be read.
pub(crate) fn size(directories: impl Iterator<Item = PathBuf>) -> Option<u64> {
    let mut sum = 0_u64;
    for directory in directories.filter(|directory| directory.exists()) {
        sum = sum.saturating_add(measured(&mounts::find(&directory).ok()?, DEEPEST)?);
    }
    Some(sum)
}

fn measured(directory: &OwnedFd, deeper: usize) -> Option<u64> {
    let mut sum = 0_u64;
    let open = open_directory(directory, c".").ok()?;
    let mut buffer = Vec::with_capacity(8192);
    let mut entries = RawDir::new(&open, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry.ok()?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let found = statat(&open, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        sum = sum.saturating_add(u64::try_from(found.st_blocks).ok()?.saturating_mul(512));
        if is_directory(&found) {
            let below = open_directory(&open, name).ok()?;
            sum = sum.saturating_add(measured(&below, deeper.checked_sub(1)?)?);
        }
    }
    Some(sum)
}

/// Removes what is in a directory that nobody else looks into. Each directory is moved to the top before it is emptied, so
/// that none is too deep, and no name is followed.
pub(crate) fn empty(top: &Path) -> io::Result<()> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let top = rustix::fs::open(top, flags, Mode::empty())?;
    // Two that remove at the same time would find each other's work gone.
    flock(&top, FlockOperation::LockExclusive)?;
    let mut made = 0_u64;
    loop {
        let waiting = names(&top)?;
        if waiting.is_empty() {
            return Ok(());
        }
        for name in waiting {
            match unlinkat(&top, &*name, AtFlags::empty()) {
                Err(Errno::ISDIR | Errno::PERM) => {}
                done => {
                    done?;
                    continue;
                }
            }
            let open = openable(&top, &name)?;
            for inside in names(&open)? {
                match unlinkat(&open, &*inside, AtFlags::empty()) {
                    Err(Errno::ISDIR | Errno::PERM) => {
                        openable(&open, &inside)?;
                        made += 1;
                        renameat(&open, &*inside, &top, format!("deep-{}-{made}", std::process::id()))?;
                    }
                    done => done?,
                }
            }
            unlinkat(&top, &*name, AtFlags::REMOVEDIR)?;
        }
    }
}

/// A directory of our own, opened whatever its mode was, and made so that its entries can be removed and it be moved.
fn openable(parent: &OwnedFd, name: &CStr) -> io::Result<OwnedFd> {
    let found = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if !is_directory(&found) {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    // Nobody but us can reach it any more, so it is still what was looked at.
    rustix::fs::chmodat(parent, name, Mode::RWXU, AtFlags::empty())?;
    open_directory(parent, name)
}

fn open_directory(parent: impl AsFd, name: &CStr) -> io::Result<OwnedFd> {
    Ok(openat(
        parent,
        name,
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

fn names(directory: &OwnedFd) -> io::Result<Vec<CString>> {
    let open = open_directory(directory, c".")?;
    let mut buffer = Vec::with_capacity(8192);
    let mut entries = RawDir::new(&open, buffer.spare_capacity_mut());
    let mut names = Vec::new();
    while let Some(entry) = entries.next() {
        let name = entry?.file_name().to_owned();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}

fn is_directory(found: &rustix::fs::Stat) -> bool {
    rustix::fs::FileType::from_raw_mode(found.st_mode) == rustix::fs::FileType::Directory
}
