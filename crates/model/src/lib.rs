//! The glossary: every idea that more than one crate speaks of, as plain data.
//!
//! No I/O, no clock, no runtime. The stages of the one path pass these along:
//!
//! | word | type | meaning |
//! |---|---|---|
//! | caller | [`Caller`] | who asks, through which door, with which client |
//! | request | [`Request`] | what a door decoded: the work, where, with what input, for how long |
//! | verdict | [`Verdict`] | what the policy says of every command in the work, and why |
//! | refusal | [`Refusal`] | why nothing ran, and what would change that |
//! | question | [`Question`] | what a person is asked before it runs, and what they may [`Answer`] |
//! | fence | [`Fence`] | what a command is confined to |
//! | launch | [`wire::Launch`] | exactly what the runner is told to execute |
//! | session | [`SessionId`] | one started command with its whole process tree |
//! | stream | [`Stream`] | which of the two outputs a byte came from |
//! | view | [`View`] | what a watcher sees of a session |
//! | outcome | [`Outcome`] | how a session ended and what it cost |

mod approval;
mod caller;
mod fence;
mod limits;
mod outcome;
mod printable;
mod promise;
mod refusal;
mod request;
pub mod stream;
mod verdict;
mod view;
pub mod wire;

pub use approval::{Answer, ApprovalPolicy, Confinement, Question, QuestionId, Ruled, Wish};
pub use caller::{Caller, Client, Door, Principal};
pub use fence::{Abilities, Caches, Enforced, Fence, Network, Profile, Tier};
pub use limits::{Elsewhere, LimitHit, Limits};
pub use outcome::{Containment, Ending, LeftBehind, Outcome, Signal, StopReason, Tree, Usage};
pub use printable::printable;
pub use promise::{PrivateDirectory, Promise, Purpose};
pub use refusal::Refusal;
pub use request::{Argv, Condition, OnFailure, Request, Script, Service, Size, Stdio, Work, Workflow};
pub use verdict::{Decision, Judged, Verdict};
pub use view::{Captured, Receipt, View};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One started command and everything that it starts, for as long as the server lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionId(pub u64);

impl std::fmt::Display for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Names the kept output of one session, for as long as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OutputId(pub String);

impl std::fmt::Display for OutputId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Which of a command's two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// File descriptor 1.
    Stdout,
    /// File descriptor 2.
    Stderr,
}

impl Stream {
    /// Both, in the order in which replies name them.
    pub const BOTH: [Stream; 2] = [Stream::Stdout, Stream::Stderr];

    /// The name that replies use.
    pub const fn name(self) -> &'static str {
        match self {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        }
    }
}
