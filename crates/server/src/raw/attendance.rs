//! Which sessions are being read and driven by whom.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use runward_model::OutputId;
use tokio::sync::Mutex as AsyncMutex;

/// The sessions of this door that somebody may come back to.
#[derive(Debug, Default)]
pub(super) struct Attendance(Mutex<HashMap<OutputId, Arc<Attended>>>);

/// One of them.
#[derive(Debug, Default)]
pub(super) struct Attended {
    /// For how long it waits for a client that was lost; `None` is never.
    pub(super) patience: Option<Duration>,
    /// How many bytes of its input have been taken. Whoever writes holds the lock.
    pub(super) written: AsyncMutex<u64>,
    /// How often it has been read; only the last reader matters.
    readers: AtomicU64,
}

impl Attendance {
    pub(super) fn begin(&self, id: &OutputId, patience: Option<Duration>) -> Arc<Attended> {
        let attended = Arc::new(Attended { patience, ..Attended::default() });
        self.lock().insert(id.clone(), attended.clone());
        attended
    }

    pub(super) fn find(&self, id: &OutputId) -> Option<Arc<Attended>> {
        self.lock().get(id).cloned()
    }

    pub(super) fn end(&self, id: &OutputId) {
        self.lock().remove(id);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<OutputId, Arc<Attended>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attended {
    /// A new reader takes the place of the one before it.
    pub(super) fn read(&self) -> u64 {
        self.readers.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Whether nobody has come after this reader.
    pub(super) fn is_last(&self, reader: u64) -> bool {
        self.readers.load(Ordering::Relaxed) == reader
    }
}
