//! Temporary files of a command's own, and what covers other things.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use runward_model::{PrivateDirectory, Purpose};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat};
use rustix::mount::{MountFlags, mount};

use crate::devices;
use crate::layer;
use crate::mounts::{self, Depth};

/// Covers a directory: nobody may look into it.
const EMPTY: &str = "empty";

/// Covers what is missing in a cache and stays so: there is nothing in it either, but everybody may see that.
const MISSING: &str = "missing";

/// Covers a file.
const NOTHING: &str = "nothing";

/// Where the overlays of caches are.
const CACHES: &str = "caches";

/// Covers a file without which programs do not start: it can be read, and nothing is in it.
const BLANK: &str = "blank";

/// The names of such files.
const READ_BY_ALL: [&str; 2] = [".npmrc", ".yarnrc.yml"];

/// The mode of what everybody may write to.
const WRITABLE: u32 = 0o1777;

/// As many files fit as there would be if each held this much, and at least these.
const BYTES_A_FILE: u64 = 8 << 10;
const LEAST_FILES: u64 = 4096;

/// How a private directory is called in here.
fn name_of(directory: PrivateDirectory) -> String {
    directory.path.trim_start_matches('/').replace('/', "-")
}

/// Where the file system in memory is mounted: the one directory that every host has, and that no sandbox shows.
pub(crate) const STORE: &str = "/proc/fs";

/// The file system in memory that the sandboxes of one client in one workspace share.
#[derive(Debug)]
pub(crate) struct Private {
    /// Reached through a mount of its own on which nothing else is ever mounted.
    root: OwnedFd,
}

impl Private {
    /// Makes it, in the namespace that all sandboxes to come are copies of. It takes so many bytes at most, and never
    /// more than half of the memory. What is written to `caches` is somewhere else.
    pub(crate) fn make(size: u64, caches: Option<OwnedFd>) -> io::Result<()> {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        let memory = rustix::system::sysinfo();
        let half = memory.totalram.saturating_mul(memory.mem_unit.into()) / 2;
        let size = size.min(half).max(1 << 20);
        // An empty file is memory too, about a kilobyte that its size does not tell of.
        let files = (size / BYTES_A_FILE).max(LEAST_FILES);
        let options = CString::new(format!("mode=0755,size={size},nr_inodes={files}"))?;
        mount("tmpfs", STORE, "tmpfs", flags, options.as_c_str())?;
        let private = Private::open()?;
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
        for (name, mode) in [(NOTHING, Mode::empty()), (BLANK, Mode::from_raw_mode(0o444))] {
            openat(&private.root, name, OFlags::CREATE | OFlags::CLOEXEC, mode)?;
        }
        if let Some(caches) = caches {
            mkdirat(&private.root, CACHES, Mode::RWXU)?;
            mounts::attach(caches, &Path::new(STORE).join(CACHES))?;
        }
        devices::make(&private)
    }

    /// The overlay of this number, which can be put into its place once; `None` where there is none.
    pub(crate) fn cache(&self, number: usize) -> Option<OwnedFd> {
        openat(&self.root, Path::new(CACHES).join(layer::name_of(number)), mounts::FIND, Mode::empty()).ok()
    }

    /// Finds it, in a copy of that namespace.
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Private { root: openat(CWD, STORE, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())? })
    }

    /// Makes what is attached from here on writable, whatever everything else is by now.
    pub(crate) fn make_writable(&self) -> io::Result<()> {
        mounts::make_writable(&self.root)
    }

    /// Takes it out of sight, where the host's `/proc` is seen.
    pub(crate) fn hide(&self) -> io::Result<()> {
        self.cover_with(EMPTY, Path::new(STORE))
    }

    /// Gives back the modes that a command may have changed.
    pub(crate) fn restore(&self) -> io::Result<()> {
        PrivateDirectory::writable().map(name_of).try_for_each(|name| self.set_mode(&name, WRITABLE))
    }

    fn set_mode(&self, name: &str, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::chmodat(&self.root, name, Mode::from_raw_mode(mode), AtFlags::empty())?)
    }

    /// Opens a directory of the host under a name of our own, for which no command has a path.
    pub(crate) fn open_host(&self, name: &str, tree: OwnedFd) -> io::Result<OwnedFd> {
        match mkdirat(&self.root, name, Mode::RWXU) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        mounts::attach(tree, &Path::new(STORE).join(name))?;
        Ok(openat(&self.root, name, OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
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
        let is_read = || READ_BY_ALL.iter().any(|name| place.file_name().is_some_and(|own| own == *name));
        let name = match directory {
            true => EMPTY,
            false if is_read() => BLANK,
            false => NOTHING,
        };
        self.cover_with(name, place)
    }

    /// Covers a directory that has to be, with an empty one that everybody may list.
    pub(crate) fn cover_missing(&self, place: &Path) -> io::Result<()> {
        self.cover_with(MISSING, place)
    }

    fn cover_with(&self, name: &str, place: &Path) -> io::Result<()> {
        let tree = mounts::copy_at(&self.root, Path::new(name))?;
        mounts::make_read_only(&tree, Depth::One)?;
        mounts::attach(tree, place)
    }
}
