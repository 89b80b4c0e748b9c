//! Finding what a path of another process means, as that process would.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, openat2, readlinkat, statat};
use rustix::io::Errno;

use crate::mounts::FIND;

/// How many symbolic links are followed to a file that is not there yet.
const MOST_LINKS: usize = 40;

/// Whether a symbolic link at the end of a path is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    /// It is.
    Yes,
    /// It is what is meant.
    No,
}

/// What a path leads to.
#[derive(Debug)]
pub(super) enum Found {
    /// Something.
    There(There),
    /// Nothing; this is where it would be.
    Missing(Place),
    /// Something that depends on who looks, such as an open file by its number: it cannot be held for another process.
    Private,
}

/// Something that is there.
#[derive(Debug)]
pub(super) struct There {
    pub(super) open: OwnedFd,
    pub(super) path: PathBuf,
}

/// Where something would be.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) parent: OwnedFd,
    /// The path of the whole.
    pub(super) path: PathBuf,
    pub(super) name: OsString,
    /// The name as it was given: what ends with a slash has to be a directory.
    pub(super) given: OsString,
}

/// Whose paths these are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Process {
    /// Its number in the `/proc` that is mounted here.
    pub(super) number: i32,
}

impl Process {
    /// What a path of it leads to.
    pub(super) fn find(self, directory: i32, path: &CStr, follow: Follow) -> Result<Found, Errno> {
        if path.is_empty() {
            return Err(Errno::NOENT);
        }
        let base = self.base(directory, path)?;
        let nofollow = if follow == Follow::No { OFlags::NOFOLLOW } else { OFlags::empty() };
        match openat2(&base, path, FIND | nofollow, Mode::empty(), ResolveFlags::NO_MAGICLINKS) {
            Ok(open) => there(open).map(Found::There),
            Err(Errno::NOENT) => missing(base, path, follow),
            Err(Errno::LOOP) => Ok(self.opened(path).map_or(Found::Private, Found::There)),
            Err(error) => Err(error),
        }
    }

    /// Where a path of it lies, whether something is there or not; links at its end are not followed.
    pub(super) fn place(self, directory: i32, path: &CStr) -> Result<Option<Place>, Errno> {
        if path.is_empty() {
            return Err(Errno::NOENT);
        }
        let base = self.base(directory, path)?;
        match parent_of(&base, path) {
            Ok(place) => Ok(Some(place)),
            Err(Errno::LOOP) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How large it may make a file.
    pub(super) fn largest_file(self) -> u64 {
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", self.number)).unwrap_or_default();
        let line = limits.lines().find_map(|line| line.strip_prefix("Max file size"));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(u64::MAX)
    }

    /// The mask of new files' modes.
    pub(super) fn mask(self) -> u32 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.number)).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
        mask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o077)
    }

    /// Where paths begin that do not begin at the top.
    fn base(self, directory: i32, path: &CStr) -> Result<OwnedFd, Errno> {
        let from = match directory {
            _ if path.to_bytes().starts_with(b"/") => "/".to_owned(),
            libc::AT_FDCWD => format!("/proc/{}/cwd", self.number),
            number => format!("/proc/{}/fd/{number}", self.number),
        };
        rustix::fs::open(from, FIND, Mode::empty())
    }

    /// What it has open under a number.
    pub(super) fn open_file(self, number: i32) -> Result<There, Errno> {
        let link = format!("/proc/{}/fd/{number}", self.number);
        let open = rustix::fs::open(link, FIND, Mode::empty());
        there(open.map_err(|errno| if errno == Errno::NOENT { Errno::BADF } else { errno })?)
    }

    /// A file that it has open and names by its number.
    fn opened(self, path: &CStr) -> Option<There> {
        let text = path.to_str().ok()?;
        let number = match text {
            "/dev/stdin" => "0",
            "/dev/stdout" => "1",
            "/dev/stderr" => "2",
            _ => ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"]
                .iter()
                .find_map(|lead| text.strip_prefix(lead))?,
        };
        let number: u32 = number.parse().ok()?;
        let link = format!("/proc/{}/fd/{number}", self.number);
        there(rustix::fs::open(link, FIND, Mode::empty()).ok()?).ok()
    }
}

/// The number that a process has in the `/proc` that is mounted here.
pub(super) fn number(pid: i32, is_own_proc: bool) -> Option<i32> {
    if is_own_proc {
        return Some(pid);
    }
    let open = rustix::process::pidfd_open(
        rustix::process::Pid::from_raw(pid)?,
        rustix::process::PidfdFlags::empty(),
    );
    let told = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", open.ok()?.as_raw_fd())).ok()?;
    told.lines().find_map(|line| line.strip_prefix("Pid:"))?.trim().parse().ok()
}

/// Where an open file lies.
pub(super) fn path_of(open: &OwnedFd) -> Result<PathBuf, Errno> {
    let link = readlinkat(CWD, by_number(open), Vec::new())?;
    Ok(PathBuf::from(OsStr::from_bytes(link.to_bytes())))
}

/// A name by which this process can open again what it has open.
pub(super) fn by_number(open: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", open.as_raw_fd())
}

pub(super) fn there(open: OwnedFd) -> Result<There, Errno> {
    let path = path_of(&open)?;
    Ok(There { open, path })
}

/// Where a file would be that is not there: behind the links that lead to it, if they are to be followed.
fn missing(mut base: OwnedFd, path: &CStr, follow: Follow) -> Result<Found, Errno> {
    let mut path: CString = path.to_owned();
    for _ in 0..MOST_LINKS {
        let place = match parent_of(&base, &path) {
            Ok(place) => place,
            Err(Errno::LOOP) => return Ok(Found::Private),
            Err(error) => return Err(error),
        };
        let is_link = statat(&place.parent, &place.name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink);
        if follow == Follow::No || !is_link {
            return Ok(Found::Missing(place));
        }
        path = readlinkat(&place.parent, &place.name, Vec::new())?;
        base = if path.to_bytes().starts_with(b"/") {
            rustix::fs::open("/", FIND, Mode::empty())?
        } else {
            place.parent
        };
    }
    Err(Errno::LOOP)
}

fn parent_of(base: &OwnedFd, path: &CStr) -> Result<Place, Errno> {
    let bytes = path.to_bytes();
    let trimmed = bytes
        .iter()
        .rposition(|byte| *byte != b'/')
        .map_or(&b""[..], |last| bytes.get(..=last).unwrap_or_default());
    let at = trimmed.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let (lead, name) = trimmed.split_at(at);
    match name {
        // The kernel says by itself what is wrong with these.
        b"" | b"." | b".." => return Err(Errno::LOOP),
        _ => {}
    }
    let lead: &[u8] = match lead {
        b"" => b".",
        lead => lead,
    };
    let flags = FIND | OFlags::DIRECTORY;
    let parent = openat2(base, OsStr::from_bytes(lead), flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS)?;
    let name = OsStr::from_bytes(name);
    let (path, mut given) = (path_of(&parent)?.join(name), name.to_owned());
    if bytes.ends_with(b"/") {
        given.push("/");
    }
    Ok(Place { parent, path, name: name.to_owned(), given })
}

/// The same directory as seen from the top now: what is mounted over it counts.
pub(super) fn reopened(path: &Path) -> Result<OwnedFd, Errno> {
    openat2(CWD, path, FIND, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}
