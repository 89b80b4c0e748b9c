//! What is written down.

mod asked;
mod bounded;
mod closed;
mod dropped;
mod judged;
mod reached;

use runward_model::{Enforced, SessionId};
use serde::{Deserialize, Serialize};

use crate::redact::redact_command;
use crate::{CallId, Server, Time};

pub use asked::{Answered, Asked, Typed};
pub use bounded::Omitted;
pub use closed::{Closed, Closing, Ended, Output};
pub use dropped::Dropped;
pub use judged::{Client, Command, Judged, Ruling};
pub use reached::Reached;

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

/// What a record says. A call has one `judged`, at most one `started`, and one `closed`; `asked` and `answered` come before
/// it starts, and again for hosts that a person is asked about, and there may be any number of `reached` and `typed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "lowercase")]
pub enum Entry {
    /// Written before anything runs.
    Judged(Box<Judged>),
    /// A person is asked whether it may run.
    Asked(Asked),
    /// They answered.
    Answered(Answered),
    /// Its first process executes.
    Started(Started),
    /// Something was typed into it, where that is recorded.
    Typed(Typed),
    /// It wanted to reach a host.
    Reached(Reached),
    /// The call is over.
    Closed(Closed),
    /// Old records were dropped; about no call.
    Dropped(Dropped),
}

impl Entry {
    /// Which call it is about, if it is about one.
    pub fn call(&self) -> Option<&CallId> {
        Some(match self {
            Entry::Judged(judged) => &judged.call,
            Entry::Asked(asked) => &asked.call,
            Entry::Answered(answered) => &answered.call,
            Entry::Started(started) => &started.call,
            Entry::Typed(typed) => &typed.call,
            Entry::Reached(reached) => &reached.call,
            Entry::Closed(closed) => &closed.call,
            Entry::Dropped(_) => return None,
        })
    }

    /// The same without anything that looks secret. The trail does this to every entry.
    #[must_use]
    pub fn redacted(self) -> Self {
        match self {
            Entry::Judged(judged) => judged.redacted().into(),
            Entry::Asked(asked) => asked.redacted().into(),
            Entry::Answered(answered) => answered.redacted().into(),
            Entry::Typed(typed) => typed.redacted().into(),
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
    /// What it is confined to; absent when it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Enforced>,
}

impl From<Judged> for Entry {
    fn from(judged: Judged) -> Self {
        Entry::Judged(Box::new(judged))
    }
}

impl From<Asked> for Entry {
    fn from(asked: Asked) -> Self {
        Entry::Asked(asked)
    }
}

impl From<Answered> for Entry {
    fn from(answered: Answered) -> Self {
        Entry::Answered(answered)
    }
}

impl From<Typed> for Entry {
    fn from(typed: Typed) -> Self {
        Entry::Typed(typed)
    }
}

impl From<Reached> for Entry {
    fn from(reached: Reached) -> Self {
        Entry::Reached(reached)
    }
}

impl From<Started> for Entry {
    fn from(started: Started) -> Self {
        Entry::Started(started)
    }
}

impl From<Dropped> for Entry {
    fn from(dropped: Dropped) -> Self {
        Entry::Dropped(dropped)
    }
}

impl From<Closed> for Entry {
    fn from(closed: Closed) -> Self {
        Entry::Closed(closed)
    }
}
