//! The way from memory to disk.

use std::io;
use std::mem;

use runward_model::{OutputId, Stream};
use runward_spool::{Kept, Problem, Record, Store, Writer};

/// How far a log is on its way to the disk.
#[derive(Debug)]
pub(super) enum Spooling {
    /// It stays in memory.
    Never,
    /// It fits into memory so far.
    Ready(Store, OutputId),
    /// It is on disk as well.
    Open(Writer),
    /// It is complete, but for what the problem says.
    Closed(Kept, Option<Problem>),
    /// It could not be begun.
    Failed(Problem),
}

impl Spooling {
    /// Begins, if nothing has begun yet. Says whether it did.
    pub(super) fn open(&mut self) -> bool {
        let Spooling::Ready(store, id) = self else { return false };
        *self = store.open(&id.0).map_or_else(Spooling::Failed, Spooling::Open);
        matches!(self, Spooling::Open(_))
    }

    pub(super) fn append(&mut self, stream: Stream, bytes: &[u8]) {
        if let Spooling::Open(writer) = self {
            writer.append(stream, bytes);
        }
    }

    pub(super) fn close(&mut self) {
        match mem::replace(self, Spooling::Never) {
            Spooling::Open(writer) => {
                let (kept, problem) = writer.close();
                *self = Spooling::Closed(kept, problem);
            }
            other => *self = other,
        }
    }

    /// An output, if it is on disk.
    pub(super) fn record(&mut self, stream: Stream) -> Option<io::Result<Record>> {
        match self {
            Spooling::Open(writer) => Some(Ok(writer.record(stream))),
            Spooling::Closed(kept, _) => Some(kept.record(stream)),
            Spooling::Never | Spooling::Ready(..) | Spooling::Failed(_) => None,
        }
    }

    pub(super) fn problem(&self) -> Option<&Problem> {
        match self {
            Spooling::Open(writer) => writer.problem(),
            Spooling::Closed(_, problem) => problem.as_ref(),
            Spooling::Failed(problem) => Some(problem),
            Spooling::Never | Spooling::Ready(..) => None,
        }
    }

    /// Whether everything that could be kept is on disk.
    pub(super) fn is_done(&self) -> bool {
        matches!(self, Spooling::Closed(..))
    }
}
