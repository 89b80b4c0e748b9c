//! Temporary files of a command's own, and what covers other things.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use runward_model::{PrivateDirectory, Purpose};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, unlinkat,
};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};

use crate::mounts::{self, Depth};

/// More files than this are not worth cleaning up: a new sandbox is made instead.
const MAX_ENTRIES: usize = 2000;

/// Deeper trees are not gone into.
const MAX_DEPTH: usize = 64;

/// Covers a directory: nobody may look into it.
const EMPTY: &str = "empty";

/// Covers a file.
const NOTHING: &str = "nothing";

/// Covers what is missing: there is nothing in it either, but everybody may see that.
const MISSING: &str = "missing";

/// The mode of what everybody may write to.
const WRITABLE: u32 = 0o1777;

/// How a private directory is called in here.
fn name_of(directory: PrivateDirectory) -> String {
    directory.path.trim_start_matches('/').replace('/', "-")
}

/// A file system in memory for one sandbox.
#[derive(Debug)]
pub(crate) struct Private {
    /// Reached through a mount of its own on which nothing else is ever mounted, so cleaning cannot go astray.
    root: OwnedFd,
}

impl Private {
    /// Mounts it, below `/tmp` for the moment. It takes so many bytes at most, and never more than half of the memory.
    pub(crate) fn mount(size: u64) -> io::Result<Self> {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        let memory = rustix::system::sysinfo();
        let half = memory.totalram.saturating_mul(memory.mem_unit.into()) / 2;
        let options = CString::new(format!("mode=0755,size={}", size.min(half).max(1 << 20)))?;
        mount("tmpfs", "/tmp", "tmpfs", flags, options.as_c_str())?;
        let root = openat(CWD, "/tmp", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let private = Private { root };
        let own = PrivateDirectory::ALL.map(name_of);
        for name in own.iter().map(String::as_str).chain(["dev", EMPTY, MISSING]) {
            mkdirat(&private.root, name, Mode::RWXU)?;
        }
        for directory in PrivateDirectory::ALL {
            let mode = if directory.purpose == Purpose::Services { 0o755 } else { WRITABLE };
            private.set_mode(&name_of(directory), mode)?;
        }
        private.set_mode("dev", 0o755)?;
        private.set_mode(EMPTY, 0)?;
        private.set_mode(MISSING, 0o555)?;
        openat(&private.root, NOTHING, OFlags::CREATE | OFlags::CLOEXEC, Mode::empty())?;
        Ok(private)
    }

    fn set_mode(&self, name: &str, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::chmodat(&self.root, name, Mode::from_raw_mode(mode), AtFlags::empty())?)
    }

    /// Where it can be written: what is made there is seen at once wherever it is attached.
    pub(crate) fn root(&self) -> &OwnedFd {
        &self.root
    }

    /// Puts one of its directories somewhere.
    pub(crate) fn attach(&self, name: &str, place: &Path) -> io::Result<()> {
        mounts::attach(mounts::copy_at(&self.root, Path::new(name))?, place)
    }

    /// Puts a private directory over the one that everybody shares, if there is one.
    pub(crate) fn attach_own(&self, directory: PrivateDirectory) -> io::Result<()> {
        let place = Path::new(directory.path);
        if place.is_dir() { self.attach(&name_of(directory), place) } else { Ok(()) }
    }

    /// Puts something over a place, so that what is there can be neither read nor replaced.
    pub(crate) fn cover(&self, place: &Path) -> io::Result<()> {
        let directory = place.symlink_metadata()?.is_dir();
        self.cover_with(if directory { EMPTY } else { NOTHING }, place)
    }

    /// Covers a placeholder with an empty directory that everybody may list: what is missing is seen to be.
    pub(crate) fn cover_missing(&self, place: &Path) -> io::Result<()> {
        self.cover_with(MISSING, place)
    }

    fn cover_with(&self, name: &str, place: &Path) -> io::Result<()> {
        let tree = mounts::copy_at(&self.root, Path::new(name))?;
        mounts::make_read_only(&tree, Depth::One)?;
        mounts::attach(tree, place)
    }

    /// Removes what a command has left. An error means that the sandbox must not be used again.
    pub(crate) fn clean(&self) -> io::Result<()> {
        let mut left = MAX_ENTRIES;
        for name in PrivateDirectory::writable().map(name_of) {
            let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
            let directory = openat(&self.root, name.as_str(), flags, Mode::empty())?;
            empty(&directory, &mut left, MAX_DEPTH)?;
            // The directory itself stays, and with it what a command may have tied to it: attributes first, since a
            // list of rights (an ACL) changes what the mode means.
            forget_attributes(&directory)?;
            self.set_mode(&name, WRITABLE)?;
        }
        Ok(())
    }
}

/// Takes off what a command may have tied to a directory that stays: lists of rights, and notes.
fn forget_attributes(directory: &OwnedFd) -> io::Result<()> {
    let mut names = [0; 4096];
    let read = match rustix::fs::flistxattr(directory, &mut names) {
        Ok(read) => read,
        Err(Errno::OPNOTSUPP) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for name in names.get(..read).unwrap_or_default().split_inclusive(|byte| *byte == 0) {
        let name = std::ffi::CStr::from_bytes_with_nul(name).map_err(|_| Errno::INVAL)?;
        match rustix::fs::fremovexattr(directory, name) {
            // What the system ties to every file is not the command's.
            Ok(()) | Err(Errno::NODATA | Errno::PERM | Errno::OPNOTSUPP | Errno::ACCESS) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Removes everything in `directory` but what something is mounted on.
fn empty(directory: &OwnedFd, left: &mut usize, depth: usize) -> io::Result<()> {
    let too_much = || io::Error::from(Errno::TOOBIG);
    let depth = depth.checked_sub(1).ok_or_else(too_much)?;
    let entries: Vec<_> = Dir::read_from(directory)?.collect::<Result<_, _>>()?;
    for entry in entries {
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        *left = left.checked_sub(1).ok_or_else(too_much)?;
        if entry.file_type() == FileType::Directory {
            let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            // Nothing is ever mounted below `root`, and no link leads anywhere: what is met all the same is not ours to empty.
            let within = ResolveFlags::BENEATH | ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS;
            empty(&openat2(directory, name, flags, Mode::empty(), within)?, left, depth)?;
            match unlinkat(directory, name, AtFlags::REMOVEDIR) {
                // Something is mounted on it, or below it, where it is attached.
                Ok(()) | Err(Errno::BUSY | Errno::NOTEMPTY) => {}
                Err(error) => return Err(error.into()),
            }
        } else {
            match unlinkat(directory, name, AtFlags::empty()) {
                // The program itself may be mounted on it.
                Ok(()) | Err(Errno::BUSY) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}
