//! The tools for commands that go on after a reply: one file each, and what they have in common.

mod encode;
pub(super) mod exec_command;
pub(super) mod list_sessions;
mod portion;
pub(super) mod read_session;
mod ready;
mod screen;
mod truncate;
pub(super) mod write_stdin;

use runward_engine::Wait;
use runward_model::{Request, SessionId, Signal, Size};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use encode::chunk;
pub(crate) use list_sessions::list;
pub(crate) use portion::Portion;
pub(crate) use read_session::looked;
pub(crate) use ready::readiness;

/// Which session is meant.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SessionArgument {
    /// From the reply.
    #[schemars(range(max = u64::MAX >> 12), extend("default" = 0))]
    session_id: u64,
}

impl SessionArgument {
    /// Its number.
    pub(super) fn id(&self) -> SessionId {
        SessionId(self.session_id)
    }
}

/// A command to start, and when to reply.
#[derive(Debug)]
pub(crate) struct Opening {
    /// What to start.
    pub(crate) request: Request,
    /// When to reply.
    pub(crate) wait: Wait,
    /// How much to show.
    pub(crate) portion: Portion,
}

/// What to do with a session, and when to reply.
#[derive(Debug)]
pub(crate) struct Attention {
    /// Which.
    pub(crate) session: SessionId,
    /// What is done to it.
    pub(crate) touch: Touch,
    /// When to reply.
    pub(crate) wait: Wait,
    /// How much to show.
    pub(crate) portion: Portion,
}

/// What is done to a session.
#[derive(Debug)]
pub(crate) struct Touch {
    /// What is written.
    pub(crate) chars: String,
    /// What is sent beyond that.
    pub(crate) signal: Option<Signal>,
    /// What size its terminal gets.
    pub(crate) resize: Option<Size>,
    /// Whether its input ends.
    pub(crate) closes: bool,
}

impl Touch {
    /// Whether nothing is done: the caller only wants news.
    pub(crate) fn is_none(&self) -> bool {
        self.chars.is_empty() && self.signal.is_none() && !self.closes && self.resize.is_none()
    }
}

/// What to look at again.
#[derive(Debug)]
pub(crate) struct Look {
    /// Which session.
    pub(crate) session: SessionId,
    /// From where on.
    pub(crate) since: u64,
    /// What its terminal shows instead.
    pub(crate) screen: bool,
    /// How much to show.
    pub(crate) portion: Portion,
}
