//! How a session is watched, and what becomes of it when nobody does: said before it starts.

use std::time::Duration;

use crate::log::{Keeping, Shape};

/// What becomes of a session when whoever holds it goes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDisconnect {
    /// It is stopped.
    Stop,
    /// It is stopped, unless somebody takes it up again in time.
    Resume(Duration),
    /// It goes on until it ends, its time is up, or the server stops.
    Detach,
}

/// How a session is watched. It is said when the session starts, so no output can come before its reader.
#[derive(Clone, Copy, Debug)]
pub enum Watch {
    /// By the call that started it: both ends of each output are kept in memory, the whole of it on disk once it is more.
    Call,
    /// The same, by callers that come back to it by its number; it goes on without them.
    Kept,
    /// By readers that may miss nothing: each print is an event.
    Events {
        /// How events are written down.
        shape: Shape,
        /// What becomes of it without a reader. It also decides for how long events are kept.
        on_disconnect: OnDisconnect,
    },
}

impl Watch {
    pub(crate) fn on_disconnect(self) -> OnDisconnect {
        match self {
            Watch::Call => OnDisconnect::Stop,
            Watch::Kept => OnDisconnect::Detach,
            Watch::Events { on_disconnect, .. } => on_disconnect,
        }
    }
}

impl OnDisconnect {
    /// For how long events are kept. A reader that may come back says what has arrived; of a session that goes on alone
    /// there may be any number of readers, and it waits for none of them.
    pub(crate) fn keeping(self) -> Keeping {
        match self {
            OnDisconnect::Stop => Keeping::UntilTaken,
            OnDisconnect::Resume(_) => Keeping::UntilAcknowledged,
            OnDisconnect::Detach => Keeping::OnDisk,
        }
    }
}
