//! What a watcher sees of a session.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Enforced, Fence, Outcome, OutputId, Stream, Verdict};

/// What a watcher sees of an ended session: how it ended, and what is kept of its outputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// What was asked and why it was allowed.
    pub receipt: Arc<Receipt>,
    /// How it ended.
    pub outcome: Outcome,
    /// What it printed on descriptor 1.
    pub stdout: Captured,
    /// What it printed on descriptor 2.
    pub stderr: Captured,
    /// Why its output is not kept whole, where it is not. The words are plain: letters, digits, blanks and `,._-`.
    pub output_note: Option<String>,
}

impl View {
    /// One of the two outputs.
    pub fn captured(&self, stream: Stream) -> &Captured {
        match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        }
    }
}

/// What is kept of one output: its beginning, how much is missing, its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// The beginning; everything, when nothing is missing.
    pub head: Vec<u8>,
    /// How many bytes are missing between head and tail.
    pub missing: u64,
    /// The end; empty when nothing is missing.
    pub tail: Vec<u8>,
}

/// What was asked, what that turned out to mean, and why it was allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The work as the caller gave it; arguments are joined so that a shell would read them back.
    pub command: String,
    /// The canonical directory that it ran in.
    pub cwd: PathBuf,
    /// What the policy said.
    pub verdict: Verdict,
    /// What it was confined to.
    pub enforced: Enforced,
    /// Exactly that, where it was.
    pub fence: Option<Box<Fence>>,
    /// Where its whole output can be read, if it is kept.
    pub output: Option<OutputId>,
}
