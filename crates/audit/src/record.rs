//! What is written down.

mod closed;
mod judged;

use runward_model::SessionId;
use serde::{Deserialize, Serialize};

use crate::redact::redact_command;
use crate::{CallId, Server, Time};

pub use closed::{Closed, Closing, Ended, Output};
pub use judged::{Client, Command, Judged, Ruling};

/// One record: when, by which server, what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// When it was written.
    pub time: Time,
    /// By whom.
    pub server: Server,
    /// What.
    #[serde(flatten)]
    pub entry: Entry,
}

/// What a record says. A call has one `judged`, at most one `started`, and one `closed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "lowercase")]
pub enum Entry {
    /// Written before anything runs.
    Judged(Box<Judged>),
    /// Its first process executes.
    Started(Started),
    /// The call is over.
    Closed(Closed),
}

impl Entry {
    /// Which call it is about.
    pub fn call(&self) -> &CallId {
        match self {
            Entry::Judged(judged) => &judged.call,
            Entry::Started(started) => &started.call,
            Entry::Closed(closed) => &closed.call,
        }
    }

    /// The same without anything that looks secret. The trail does this to every entry.
    #[must_use]
    pub fn redacted(self) -> Self {
        match self {
            Entry::Judged(judged) => judged.redacted().into(),
            Entry::Closed(Closed { call, closing: Closing::Refused { reason } }) => {
                Closed::refused(call, redact_command(&reason)).into()
            }
            other => other,
        }
    }
}

/// Its first process executes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Which call.
    pub call: CallId,
    /// The session that runs it.
    pub session: SessionId,
    /// The process id of its first process.
    pub pid: i32,
}

impl From<Judged> for Entry {
    fn from(judged: Judged) -> Self {
        Entry::Judged(Box::new(judged))
    }
}

impl From<Started> for Entry {
    fn from(started: Started) -> Self {
        Entry::Started(started)
    }
}

impl From<Closed> for Entry {
    fn from(closed: Closed) -> Self {
        Entry::Closed(closed)
    }
}
