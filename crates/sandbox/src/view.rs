//! A directory as it is, and a place in it for what it does not have.
//!
//! A mount needs a directory to stand on, and none is made in the host's. So where one is missing, everything that is in the
//! directory around it is put into one in memory, which is then put over it.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use runward_files::FileId;
use rustix::fs::{FileType, Mode, OFlags, mkdirat, openat, readlinkat, symlinkat};
use rustix::mount::{MountFlags, mount};

use crate::mounts::{self, Depth};

/// A directory with more in it than this is left as it is: each takes a mount.
const MOST: usize = 1024;

/// A directory that is shown with more in it, until [`View::finish`] as one that can be written.
#[derive(Debug)]
pub(crate) struct View {
    path: PathBuf,
    /// The directory of the host that it stands for.
    of: FileId,
    own: FileId,
}

impl View {
    /// Puts one over this directory.
    pub(crate) fn over(path: &Path) -> io::Result<Self> {
        let real = mounts::find(path)?;
        let of = rustix::fs::fstat(&real)?;
        let entries: Vec<_> = fs::read_dir(path)?.take(MOST + 1).collect::<Result<_, _>>()?;
        if entries.len() > MOST {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let options = CString::new(format!("mode={:o},size=1m,nr_inodes=0", of.st_mode & 0o777))?;
        mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())?;
        let root = mounts::find(path)?;
        for entry in entries {
            // What is gone by now, or cannot be shown, is left out.
            let _ = show(&real, &root, Path::new(&entry.file_name()), path);
        }
        Ok(View { path: path.to_owned(), of: FileId::from(&of), own: FileId::of_open(root)? })
    }

    /// Has it be as it is from now on.
    pub(crate) fn finish(&self) -> io::Result<()> {
        mounts::make_read_only(mounts::find(&self.path)?, Depth::One)
    }

    /// Whether it is this that stands for that.
    pub(crate) fn stands_for(&self, host: FileId, own: FileId) -> bool {
        (self.of, self.own) == (host, own)
    }
}

fn show(real: &OwnedFd, root: &OwnedFd, name: &Path, path: &Path) -> io::Result<()> {
    let tree = mounts::copy_at(real, name)?;
    match FileType::from_raw_mode(rustix::fs::fstat(&tree)?.st_mode) {
        FileType::Symlink => return Ok(symlinkat(&readlinkat(real, name, Vec::new())?, root, name)?),
        FileType::Directory => mkdirat(root, name, Mode::RWXU)?,
        _ => drop(openat(
            root,
            name,
            OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC,
            Mode::RUSR,
        )?),
    }
    mounts::attach(tree, &path.join(name))
}
