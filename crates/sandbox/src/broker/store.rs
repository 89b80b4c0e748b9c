//! What is held back, on disk: a directory for each workspace root, with the same paths inside.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::held::Result;
use crate::mounts::FIND;
use crate::names::Making;

/// More than this of one thing is not held back but refused.
const LARGEST: u64 = 64 << 20;

/// So many files in one thing, at most.
const MOST: usize = 10_000;

/// How a file begins to be called that takes the place of another.
pub(super) const DRAFT: &str = ".runward-new-";

/// The longest name that file systems take.
const LONGEST_NAME: usize = 255;

/// Marks what merely stands in for something held back: nothing else has this mode and no content.
pub(super) const STAND_IN: Mode = Mode::SVTX.union(Mode::RUSR).union(Mode::XUSR);

/// The name by which a workspace's root has its directory among what is held back, if it is short enough for one.
pub(super) fn store_name(root: &Path) -> Option<String> {
    let mut name = String::new();
    for byte in root.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => name.push(char::from(*byte)),
            other => name.extend(format!("%{other:02X}").chars()),
        }
    }
    (name.len() <= LONGEST_NAME).then_some(name)
}

/// The root that a directory among what is held back is of.
pub(super) fn root_of_store(name: &str) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
        } else {
            byte
        });
    }
    Some(PathBuf::from(OsStr::from_bytes(&bytes)))
}

/// Opens something below a directory without a symbolic link on the way.
pub(super) fn below(directory: impl AsFd, path: &Path, flags: OFlags) -> Result<OwnedFd> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    openat2(directory, path, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty(), resolve)
}

/// Makes every directory on the way to a path, and opens the last.
pub(super) fn parents(top: impl AsFd, path: &Path) -> Result<OwnedFd> {
    let mut open = below(top, Path::new(""), OFlags::DIRECTORY)?;
    for part in path.parent().into_iter().flat_map(Path::components) {
        match mkdirat(&open, part.as_os_str(), Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        open = below(&open, Path::new(part.as_os_str()), OFlags::DIRECTORY)?;
    }
    Ok(open)
}

/// What a file holds, if that is not too much.
pub(super) fn content(open: OwnedFd) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::from(open).take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST { Err(io::Error::from_raw_os_error(libc::EFBIG)) } else { Ok(bytes) }
}

/// Puts a file in place of whatever is there, at once and whole.
pub(super) fn replace(parent: impl AsFd, name: &OsStr, bytes: &[u8], mode: Mode) -> io::Result<()> {
    // By a name that no command can open for writing.
    let mut draft = std::ffi::OsString::from(DRAFT);
    draft.push(name);
    let _ = unlinkat(&parent, &draft, AtFlags::empty());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut file = fs::File::from(openat(&parent, &draft, flags, Mode::RUSR | Mode::WUSR)?);
    rustix::fs::fchmod(&file, mode)?;
    file.write_all(bytes)?;
    Ok(renameat(&parent, &draft, &parent, name)?)
}

/// Writes what an empty file of ours is to hold from now on.
pub(super) fn fill(parent: impl AsFd, name: &OsStr, bytes: &[u8], mode: Mode) -> io::Result<()> {
    rustix::fs::chmodat(&parent, name, Mode::RUSR | Mode::WUSR, AtFlags::empty())?;
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = fs::File::from(openat(&parent, name, flags, Mode::empty())?);
    file.write_all(bytes)?;
    Ok(rustix::fs::fchmod(&file, mode)?)
}

/// Copies a file or a directory with all that is in it. Symbolic links stay links.
pub(super) fn copy(from: impl AsFd, from_name: &OsStr, to: impl AsFd, to_name: &OsStr) -> io::Result<()> {
    copy_some(&from, from_name, &to, to_name, &mut (MOST, LARGEST))
}

fn copy_some(
    from: &impl AsFd,
    from_name: &OsStr,
    to: &impl AsFd,
    to_name: &OsStr,
    left: &mut (usize, u64),
) -> io::Result<()> {
    let found = statat(from, from_name, AtFlags::SYMLINK_NOFOLLOW)?;
    let size = u64::try_from(found.st_size).unwrap_or(u64::MAX);
    let fits = || Some((left.0.checked_sub(1)?, left.1.checked_sub(size)?));
    *left = fits().ok_or_else(|| io::Error::from_raw_os_error(libc::EFBIG))?;
    let mode = Mode::from_raw_mode(found.st_mode);
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => {
            let open = openat(
                from,
                from_name,
                OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC,
                Mode::empty(),
            )?;
            replace(to, to_name, &content(open)?, mode)
        }
        FileType::Directory => {
            match mkdirat(to, to_name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let inner = openat(from, from_name, flags, Mode::empty())?;
            let outer = openat(to, to_name, flags, Mode::empty())?;
            for name in names(&inner)? {
                copy_some(&inner, &name, &outer, &name, left)?;
            }
            Ok(rustix::fs::fchmod(&outer, mode)?)
        }
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(from, from_name, Vec::new())?;
            let _ = unlinkat(to, to_name, AtFlags::empty());
            Ok(rustix::fs::symlinkat(target, to, to_name)?)
        }
        _ => Ok(()),
    }
}

/// The names in a directory.
pub(super) fn names(directory: &OwnedFd) -> io::Result<Vec<std::ffi::OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            names.push(name.to_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Removes a file or a directory with all that is in it.
pub(super) fn remove(parent: impl AsFd, name: &OsStr) -> io::Result<()> {
    match unlinkat(&parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let inner = openat(&parent, name, flags, Mode::empty())?;
    for name in names(&inner)? {
        remove(&inner, &name)?;
    }
    Ok(unlinkat(&parent, name, AtFlags::REMOVEDIR)?)
}

/// Whether something merely stands in for what is held back.
pub(super) fn is_stand_in(parent: impl AsFd, name: &OsStr) -> bool {
    let Ok(found) = statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) else { return false };
    if Mode::from_raw_mode(found.st_mode) != STAND_IN {
        return false;
    }
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => found.st_size == 0,
        FileType::Directory => {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let open = openat(&parent, name, flags, Mode::empty());
            open.is_ok_and(|open| names(&open).is_ok_and(|names| names.is_empty()))
        }
        _ => false,
    }
}

/// Opens a directory below another to find things in it.
pub(super) fn directory(top: impl AsFd, path: &Path) -> Result<OwnedFd> {
    below(top, path, FIND | OFlags::DIRECTORY)
}

pub(super) fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

pub(super) fn read(directory: &OwnedFd, name: &OsStr) -> Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = openat(directory, name, flags, Mode::empty())?;
    if FileType::from_raw_mode(rustix::fs::fstat(&open)?.st_mode) != FileType::RegularFile {
        return Err(Errno::INVAL);
    }
    content(open).map_err(|error| errno(&error))
}

pub(super) fn reopen(directory: &OwnedFd, name: &OsStr) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(directory, name, flags, Mode::empty())
}

pub(super) fn make(directory: &OwnedFd, name: &OsStr, making: Making) -> Result<()> {
    match making {
        Making::Directory => mkdirat(directory, name, Mode::from_raw_mode(0o755)),
        Making::File => {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
            openat(directory, name, flags, Mode::from_raw_mode(0o644)).map(drop)
        }
    }
}

/// Makes what something is mounted on; known by its mode.
pub(super) fn stand_in(directory: &OwnedFd, name: &OsStr, is_directory: bool) -> Result<()> {
    if is_directory {
        mkdirat(directory, name, STAND_IN)?;
    } else {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDONLY | OFlags::CLOEXEC;
        openat(directory, name, flags, STAND_IN)?;
    }
    rustix::fs::chmodat(directory, name, STAND_IN, AtFlags::empty())
}

/// Removes what stands in for something, if that is what it is.
pub(super) fn remove_stand_in(real: &OwnedFd, relative: &Path) {
    let Some(name) = relative.file_name() else { return };
    let Ok(outer) = directory(real, relative.parent().unwrap_or(Path::new(""))) else { return };
    if is_stand_in(&outer, name) {
        let _ = unlinkat(&outer, name, AtFlags::empty());
        let _ = unlinkat(&outer, name, AtFlags::REMOVEDIR);
    }
}

pub(super) fn is_empty_directory(directory: &OwnedFd, name: &OsStr) -> bool {
    reopen(directory, name).is_ok_and(|open| names(&open).is_ok_and(|names| names.is_empty()))
}
