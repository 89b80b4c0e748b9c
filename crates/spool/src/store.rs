//! The directory of all spools.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use runward_files::private;

use crate::clean;
use crate::problem::Problem;
use crate::writer::Writer;

/// Room is looked for ahead, this part of the quota at a time, since looking reads the whole directory.
const AHEAD: u64 = 64;

/// What a store is told once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where; made when first needed, for its owner alone.
    pub directory: PathBuf,
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
    room: Mutex<Room>,
}

/// What this store knows of the room that is left.
#[derive(Debug, Default)]
struct Room {
    /// Bytes that may be taken before room has to be looked for again.
    left: u64,
    /// Bytes that were taken and are not on disk yet, where looking would see them.
    pending: u64,
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
        let (folder, lock) = self.folder(name)?;
        Ok(Writer::new(self.clone(), folder, lock))
    }

    /// Makes a folder, and a lock that keeps it from being removed.
    pub(crate) fn folder(&self, name: &str) -> Result<(PathBuf, File), Problem> {
        let Settings { directory, .. } = &self.0.settings;
        make_private(directory)?;
        self.find_room(0);
        let folder = directory.join(name);
        private::make_new(&folder)?;
        let lock = File::open(&folder)?;
        lock.lock()?;
        Ok((folder, lock))
    }

    /// Takes room for some bytes, or for as many of them as there is room for.
    pub(crate) fn take(&self, bytes: u64) -> u64 {
        if self.room().left < bytes {
            self.find_room(bytes.max(self.0.settings.quota / AHEAD));
        }
        let mut room = self.room();
        let taken = bytes.min(room.left);
        room.left -= taken;
        room.pending += taken;
        taken
    }

    /// Some of the bytes that were taken are on disk now, or never will be.
    pub(crate) fn settle(&self, bytes: u64) {
        let mut room = self.room();
        room.pending = room.pending.saturating_sub(bytes);
    }

    fn find_room(&self, wanted: u64) {
        let mut room = self.room();
        let found = clean::make_room(&self.0.settings, wanted.saturating_add(room.pending));
        room.left = found.saturating_sub(room.pending);
    }

    fn room(&self) -> MutexGuard<'_, Room> {
        self.0.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a directory for its owner alone; one that is there already must be the owner's.
fn make_private(directory: &Path) -> io::Result<()> {
    private::make(directory)?;
    if fs::metadata(directory)?.uid() != private::user() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(())
}
