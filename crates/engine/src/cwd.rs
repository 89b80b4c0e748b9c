//! The directory of a command: opened once, checked as what was opened, entered as what was opened.

use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use runward_model::Refusal;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

/// The setting that lists some roots, and those roots as configured.
pub(crate) type RootList<'a> = (&'static str, &'a [PathBuf]);

/// An open directory and its canonical path.
#[derive(Debug)]
pub(crate) struct Cwd {
    pub(crate) handle: OwnedFd,
    pub(crate) path: PathBuf,
}

/// Opens the directory that a caller named and checks that it lies within the roots of every list that has
/// some; the server's own when none was named.
pub(crate) fn open(wanted: Option<&Path>, lists: &[RootList<'_>]) -> Result<Cwd, Refusal> {
    let named = wanted.unwrap_or(Path::new("."));
    let lists = if wanted.is_some() { lists } else { &[] };
    let lists = canonical(lists)?;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let handle = rustix::fs::open(named, flags, Mode::empty()).map_err(|error| unusable(named, error))?;
    let stat = rustix::fs::fstat(&handle).map_err(|error| unusable(named, error))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(Refusal::CwdNotDirectory(named.into()));
    }
    if stat.st_nlink == 0 {
        return Err(Refusal::CwdMissing(named.into()));
    }
    let path = path_of(&handle)
        .map_err(|error| Refusal::CwdUnusable { path: named.into(), reason: error.to_string() })?;
    for (setting, roots) in lists {
        if !roots.is_empty() && !roots.iter().any(|root| path.starts_with(root)) {
            return Err(Refusal::CwdOutsideRoots { setting, path, roots });
        }
    }
    Ok(Cwd { handle, path })
}

/// The canonical path of what is open, as the kernel knows it.
fn path_of(handle: &OwnedFd) -> std::io::Result<PathBuf> {
    fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd()))
}

/// Every root as it is now; one that does not resolve means that nothing can be judged.
pub(crate) fn canonical(lists: &[RootList<'_>]) -> Result<Vec<(&'static str, Vec<PathBuf>)>, Refusal> {
    let list = |(setting, roots): &RootList<'_>| {
        let canonical = |root: &PathBuf| {
            fs::canonicalize(root).map_err(|_| Refusal::InvalidRoot { setting, root: root.clone() })
        };
        Ok((*setting, roots.iter().map(canonical).collect::<Result<_, _>>()?))
    };
    lists.iter().map(list).collect()
}

fn unusable(path: &Path, error: Errno) -> Refusal {
    match error {
        Errno::NOENT | Errno::NOTDIR => Refusal::CwdMissing(path.into()),
        error => Refusal::CwdUnusable { path: path.into(), reason: std::io::Error::from(error).to_string() },
    }
}
