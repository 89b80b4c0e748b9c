//! The one buffer of a session: everything that it prints, by position, with bounded memory.
//!
//! A position counts the bytes of both outputs in arrival order, so a reader that knows where it stopped goes on
//! from there: late joiners, re-readers and reconnecting clients are one code path. The beginning and the end of
//! each output are kept; what leaves memory is counted.

mod lane;

use std::sync::{Mutex, MutexGuard, PoisonError};

use runward_model::{Captured, Stream};
use tokio::sync::watch;

use lane::Lane;

/// Everything that a session has printed, as far as it is kept.
#[derive(Debug)]
pub struct EventLog {
    lanes: Mutex<Lanes>,
    position: watch::Sender<u64>,
}

#[derive(Debug)]
struct Lanes {
    stdout: Lane,
    stderr: Lane,
    position: u64,
}

/// A run of bytes of one output, or a gap in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes that follow each other.
    Bytes {
        /// The position of the first one.
        at: u64,
        /// Which output.
        stream: Stream,
        /// The bytes.
        data: Vec<u8>,
    },
    /// Bytes that are no longer kept.
    Gap {
        /// Which output.
        stream: Stream,
        /// How many.
        bytes: u64,
    },
}

impl EventLog {
    /// Keeps `limit` bytes of each output, half of them from the beginning and half from the end.
    pub fn new(limit: usize) -> Self {
        let lanes = Lanes { stdout: Lane::new(limit), stderr: Lane::new(limit), position: 0 };
        EventLog { lanes: Mutex::new(lanes), position: watch::Sender::new(0) }
    }

    /// Adds what an output has printed.
    pub fn append(&self, stream: Stream, bytes: &[u8]) {
        let mut lanes = self.lock();
        let at = lanes.position;
        lanes.lane(stream).append(at, bytes);
        lanes.position += bytes.len() as u64;
        self.position.send_replace(lanes.position);
    }

    /// How many bytes have been printed on both outputs.
    pub fn position(&self) -> u64 {
        *self.position.borrow()
    }

    /// Changes whenever something is printed.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.position.subscribe()
    }

    /// What is kept from `position` on, in arrival order, with a gap where an output is no longer whole.
    pub fn read_from(&self, position: u64) -> Vec<Piece> {
        let lanes = self.lock();
        let mut pieces = lanes.stdout.read_from(position, Stream::Stdout);
        pieces.extend(lanes.stderr.read_from(position, Stream::Stderr));
        pieces.sort_by_key(|(at, _)| *at);
        pieces.into_iter().map(|(_, piece)| piece).collect()
    }

    /// One output: its beginning, how much is missing, its end.
    pub fn captured(&self, stream: Stream) -> Captured {
        self.lock().lane(stream).captured()
    }

    fn lock(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lanes {
    fn lane(&mut self, stream: Stream) -> &mut Lane {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }
}

#[cfg(test)]
mod tests;
