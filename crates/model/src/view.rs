//! What a watcher sees of a session.

use crate::{Outcome, Stream};

/// What a watcher sees of an ended session: how it ended, and what is kept of its outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// How it ended.
    pub outcome: Outcome,
    /// What it printed on descriptor 1.
    pub stdout: Captured,
    /// What it printed on descriptor 2.
    pub stderr: Captured,
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The beginning; everything, when nothing is missing.
    pub head: Vec<u8>,
    /// How many bytes are missing between head and tail.
    pub missing: u64,
    /// The end; empty when nothing is missing.
    pub tail: Vec<u8>,
}
