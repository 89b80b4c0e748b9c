//! The directory of all spools.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clean;
use crate::problem::Problem;
use crate::writer::Writer;

/// What a store is told once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where; made when first needed, for its owner alone.
    pub directory: PathBuf,
    /// How many bytes of both outputs one session may keep.
    pub max_size: u64,
    /// How many bytes all sessions together may keep.
    pub quota: u64,
    /// How long they are kept.
    pub keep: Duration,
}

/// The directory of all spools. Clones share it; several servers may.
#[derive(Clone, Debug)]
pub struct Store(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    settings: Settings,
    /// Bytes that may be written before room has to be looked for again.
    room: Mutex<u64>,
}

impl Store {
    /// Touches nothing yet.
    pub fn new(settings: Settings) -> Self {
        Store(Arc::new(Shared { settings, room: Mutex::default() }))
    }

    /// What it was told.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Makes the folder of a session. Names are hexadecimal, as only such folders are ever removed again.
    pub fn open(&self, name: &str) -> Result<Writer, Problem> {
        let Settings { directory, max_size, .. } = &self.0.settings;
        make_private(directory)?;
        self.find_room(0);
        let folder = directory.join(name);
        DirBuilder::new().mode(0o700).create(&folder)?;
        let lock = File::open(&folder)?;
        lock.lock()?;
        Ok(Writer::new(self.clone(), folder, lock, *max_size))
    }

    /// Takes room for some bytes, if there is any.
    pub(crate) fn take(&self, bytes: u64) -> Result<(), Problem> {
        if *self.room() < bytes {
            self.find_room(bytes);
        }
        let mut room = self.room();
        *room = room.checked_sub(bytes).ok_or(Problem::OverQuota(self.0.settings.quota))?;
        Ok(())
    }

    fn find_room(&self, wanted: u64) {
        let found = clean::make_room(&self.0.settings, wanted);
        *self.room() = found;
    }

    fn room(&self) -> MutexGuard<'_, u64> {
        self.0.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a directory for its owner alone; one that is there already must be the owner's.
fn make_private(directory: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).recursive(true).create(directory)?;
    let found = fs::metadata(directory)?;
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(())
}
