//! What was done, and how to undo it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, RenameFlags};

use super::rename_to_nothing;
use crate::error::Error;
use crate::place::reach;

/// What was done, in order.
#[derive(Debug, Default)]
pub(super) struct Undo(Vec<(PathBuf, Done)>);

/// One thing that was done at a path.
#[derive(Debug)]
pub(super) enum Done {
    /// A directory was made there.
    Made,
    /// New content stands beside it.
    Staged { beside: OsString },
    /// A new file was put there, where nothing was.
    Put,
    /// What stood there stands beside it now.
    Taken { beside: OsString },
    /// What stood there and what stood beside it have changed places.
    Exchanged { beside: OsString },
}

impl Undo {
    pub(super) fn push(&mut self, path: &Path, done: Done) {
        self.0.push((path.to_owned(), done));
    }

    /// It is done for good: what stood there before goes.
    pub(super) fn forget(self) {
        for (path, done) in self.0 {
            if let Done::Taken { beside } | Done::Exchanged { beside } = done
                && let Ok(place) = reach(&path)
            {
                let _ = rustix::fs::unlinkat(&place.directory, &beside, AtFlags::empty());
            }
        }
    }

    /// Undoes everything, the last first, and says what it was undone for.
    pub(super) fn roll_back(self, path: String, source: io::Error) -> Error {
        let (mut left, mut reason) = (Vec::new(), None);
        for (path, done) in self.0.into_iter().rev() {
            if let Err(error) = done.undo(&path) {
                left.push(path);
                reason.get_or_insert(error.to_string());
            }
        }
        match reason {
            Some(reason) => Error::Broken { path, source, left, reason },
            None => Error::Write { path, source },
        }
    }
}

impl Done {
    fn undo(&self, path: &Path) -> io::Result<()> {
        let place = reach(path).map_err(io::Error::other)?;
        let directory = &place.directory;
        match self {
            Done::Made => Ok(rustix::fs::unlinkat(directory, place.name, AtFlags::REMOVEDIR)?),
            Done::Put => Ok(rustix::fs::unlinkat(directory, place.name, AtFlags::empty())?),
            Done::Taken { beside } => Ok(rename_to_nothing(&place, beside, place.name)?),
            Done::Exchanged { beside } => Ok(rustix::fs::renameat_with(
                directory,
                beside,
                directory,
                place.name,
                RenameFlags::EXCHANGE,
            )?),
            // It may have been put in its place, and gone from there.
            Done::Staged { beside } => match rustix::fs::unlinkat(directory, beside, AtFlags::empty()) {
                Err(rustix::io::Errno::NOENT) | Ok(()) => Ok(()),
                Err(error) => Err(error.into()),
            },
        }
    }
}
