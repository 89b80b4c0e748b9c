//! Files by their absolute paths, reached without following any symbolic link.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use runward_files::Stamp;
use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::error::Problem;

/// A directory to look things up in, and nothing else.
const DIRECTORY: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open directory, and the name in it.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) directory: OwnedFd,
    pub(crate) name: &'a OsStr,
    pub(crate) path: &'a Path,
}

/// How far a path leads.
pub(crate) enum Walk<'a> {
    /// The directory is there.
    Whole(Place<'a>),
    /// It is there as far as this; the rest would have to be made.
    Part {
        /// The last directory that is there.
        directory: OwnedFd,
        /// The path of the first that is not.
        missing: PathBuf,
    },
}

/// Walks to the directory of a file, a component at a time.
pub(crate) fn walk(path: &Path) -> Result<Walk<'_>, Problem> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(Problem::NoName) };
    let mut so_far = PathBuf::from("/");
    let mut directory = rustix::fs::openat(CWD, "/", DIRECTORY, Mode::empty())
        .map_err(|error| unusable("enter", &so_far, error))?;
    for component in parent.iter().skip(1) {
        so_far.push(component);
        directory = match rustix::fs::openat(&directory, component, DIRECTORY, Mode::empty()) {
            Ok(next) => next,
            Err(Errno::NOENT) => return Ok(Walk::Part { directory, missing: so_far }),
            Err(Errno::NOTDIR | Errno::LOOP) => return Err(no_directory(&directory, component, so_far)),
            Err(error) => return Err(unusable("enter", &so_far, error)),
        };
    }
    Ok(Walk::Whole(Place { directory, name, path }))
}

/// Walks to the directory of a file that has to be there.
pub(crate) fn reach(path: &Path) -> Result<Place<'_>, Problem> {
    match walk(path)? {
        Walk::Whole(place) => Ok(place),
        Walk::Part { .. } => Err(Problem::NoSuchFile(path.to_owned())),
    }
}

impl Place<'_> {
    /// The regular file that stands there, or nothing. Anything else is a problem.
    pub(crate) fn standing(&self) -> Result<Option<Stat>, Problem> {
        let stat = match self.stat(self.name) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(unusable("look at", self.path, error)),
        };
        let path = self.path.to_owned();
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => return Ok(Some(stat)),
            FileType::Symlink => return Err(Problem::Link(path)),
            FileType::Directory => "a directory",
            FileType::Fifo => "a named pipe",
            FileType::Socket => "a socket",
            _ => "a device",
        };
        Err(Problem::NotAFile { path, kind })
    }

    /// What a name in this directory is, links not followed.
    pub(crate) fn stat(&self, name: &OsStr) -> Result<Stat, Errno> {
        rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Whether this user could write to the file that stands there, although it is replaced and not written to.
    pub(crate) fn must_be_writable(&self) -> Result<(), Problem> {
        let access = rustix::fs::accessat(&self.directory, self.name, Access::WRITE_OK, AtFlags::EACCESS);
        access.map_err(|error| unusable("write to", self.path, error))
    }

    /// The content of the file that stands there, which must be one that could be written too.
    pub(crate) fn read(&self, stat: &Stat, most: u64) -> Result<Vec<u8>, Problem> {
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        let too_large = |size| Problem::TooLarge { path: self.path.to_owned(), size, most };
        if size > most {
            return Err(too_large(size));
        }
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.directory, self.name, flags, Mode::empty());
        let file = File::from(opened.map_err(|error| unusable("open", self.path, error))?);
        let found = rustix::fs::fstat(&file).map_err(|error| unusable("look at", self.path, error))?;
        if !Stamp::from(&found).has_content_of(&Stamp::from(stat)) {
            return Err(Problem::Changed(self.path.to_owned()));
        }
        let mut content = Vec::new();
        let read = file.take(most + 1).read_to_end(&mut content);
        read.map_err(|source| Problem::Unusable { act: "read", path: self.path.to_owned(), source })?;
        // Some files say that they are empty and are not.
        if content.len() as u64 > most { Err(too_large(content.len() as u64)) } else { Ok(content) }
    }
}

fn no_directory(above: &OwnedFd, name: &OsStr, path: PathBuf) -> Problem {
    let is_link = rustix::fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
    if is_link { Problem::Link(path) } else { Problem::NotADirectory(path) }
}

pub(crate) fn unusable(act: &'static str, path: &Path, error: Errno) -> Problem {
    Problem::Unusable { act, path: path.to_owned(), source: io::Error::from(error) }
}
