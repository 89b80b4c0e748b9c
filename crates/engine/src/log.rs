//! The one buffer of a session: everything that it prints, by position, with bounded memory.
//!
//! A position counts the bytes of both outputs in arrival order, so a reader that knows where it stopped goes on
//! from there: late joiners, re-readers and reconnecting clients are one code path. The beginning and the end of
//! each output are kept in memory; before anything leaves it, everything goes to the spool on disk.

mod lane;
mod spooling;
mod tap;

use std::io::{self, Read as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runward_model::{Captured, OutputId, Stream};
use runward_spool::{Journal, Record, Store};
use tokio::sync::watch;

use lane::Lane;
use spooling::Spooling;
pub use tap::{Event, Keeping, Reader, Shape, Tap};

/// Everything that a session has printed, as far as it is kept.
#[derive(Debug)]
pub struct EventLog {
    lanes: Mutex<Lanes>,
    position: watch::Sender<u64>,
    /// Where readers that may miss nothing read, if the session was started for such.
    tap: Option<Arc<Tap>>,
}

#[derive(Debug)]
struct Lanes {
    stdout: Lane,
    stderr: Lane,
    position: u64,
    spooling: Spooling,
    /// Set once an ended session's outputs are on disk alone.
    forgotten: bool,
    /// Whether its reader gets everything, so that nothing is kept here.
    passes: bool,
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

impl Piece {
    /// How many bytes it holds; none in a gap.
    pub(crate) fn length(&self) -> usize {
        match self {
            Piece::Bytes { data, .. } => data.len(),
            Piece::Gap { .. } => 0,
        }
    }

    /// Which output it is of.
    pub(crate) fn stream(&self) -> Stream {
        match self {
            Piece::Bytes { stream, .. } | Piece::Gap { stream, .. } => *stream,
        }
    }

    /// Whether bytes are missing here.
    pub(crate) fn is_gap(&self) -> bool {
        matches!(self, Piece::Gap { .. })
    }
}

/// How far somebody has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Bytes of both outputs in arrival order.
    pub position: u64,
    /// Bytes of standard output.
    stdout: u64,
    /// Bytes of standard error.
    stderr: u64,
}

impl Mark {
    /// How many bytes of one output.
    pub fn of(&self, stream: Stream) -> u64 {
        match stream {
            Stream::Stdout => self.stdout,
            Stream::Stderr => self.stderr,
        }
    }

    /// Before the last `bytes` of one output.
    pub fn before(mut self, stream: Stream, bytes: u64) -> Self {
        self.position = self.position.saturating_sub(bytes);
        match stream {
            Stream::Stdout => self.stdout = self.stdout.saturating_sub(bytes),
            Stream::Stderr => self.stderr = self.stderr.saturating_sub(bytes),
        }
        self
    }
}

impl EventLog {
    /// Keeps `limit` bytes of each output, half of them from the beginning and half from the end.
    pub fn new(limit: usize) -> Self {
        EventLog::with(limit, Spooling::Never)
    }

    /// The same, and the whole of it on disk once it is more than that.
    pub fn spooled(limit: usize, store: Store, id: OutputId) -> Self {
        EventLog::with(limit, Spooling::Ready(store, id))
    }

    /// Every print is an event of its own, from the first one on. It is then not spooled as well: beside a journal the
    /// log keeps both ends in memory, beside a window nothing.
    pub(crate) fn tapped(limit: usize, store: &Store, id: &OutputId, keeping: Keeping, shape: Shape) -> Self {
        let tap = match keeping {
            Keeping::OnDisk => Tap::journal(Journal::begin(store, &id.0), shape),
            Keeping::UntilTaken | Keeping::UntilAcknowledged => Tap::window(keeping, shape),
        };
        let log = EventLog::with(limit, Spooling::Never);
        log.lock().passes = keeping != Keeping::OnDisk;
        EventLog { tap: Some(Arc::new(tap)), ..log }
    }

    fn with(limit: usize, spooling: Spooling) -> Self {
        let (stdout, stderr) = (Lane::new(limit), Lane::new(limit));
        let lanes = Lanes { stdout, stderr, position: 0, spooling, forgotten: false, passes: false };
        EventLog { lanes: Mutex::new(lanes), position: watch::Sender::new(0), tap: None }
    }

    /// Adds what an output has printed.
    pub fn append(&self, stream: Stream, bytes: &[u8]) {
        let mut lanes = self.lock();
        if lanes.passes {
            lanes.lane(stream).pass(bytes);
        } else {
            lanes.keep(stream, bytes);
        }
        lanes.position += bytes.len() as u64;
        if let Some(tap) = &self.tap {
            tap.push(stream, bytes);
        }
        self.position.send_replace(lanes.position);
    }

    /// A reader that has to be waited for before more is printed, if there is one.
    pub(crate) fn slow_reader(&self) -> Option<&Tap> {
        self.tap.as_deref().filter(|tap| tap.is_full())
    }

    /// Where its events are read, if it is read like that.
    pub fn tap(&self) -> Option<&Arc<Tap>> {
        self.tap.as_ref()
    }

    /// Nothing more will be printed: what is on its way to the disk gets there.
    pub fn close(&self) {
        self.lock().spooling.close();
        if let Some(tap) = &self.tap {
            tap.close();
        }
    }

    /// One output from its first byte on, as far as it is kept; an error when it has been removed from the disk.
    pub fn record(&self, stream: Stream) -> io::Result<Record> {
        let mut lanes = self.lock();
        if let Some(record) = lanes.spooling.record(stream) {
            return record;
        }
        let lane = lanes.lane(stream);
        let Captured { head, missing, tail } = lane.captured();
        Ok(Record::in_memory(head, missing + tail.len() as u64 + lane.passed()))
    }

    /// The beginning of one output, as far as it is kept.
    pub fn beginning(&self, stream: Stream, most: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self.record(stream).map(|record| record.take(most as u64).read_to_end(&mut bytes)) {
            Ok(Ok(_)) => bytes,
            _ => self.captured(stream).head,
        }
    }

    /// Why the outputs are not kept whole, where they are not.
    pub fn note(&self) -> Option<String> {
        self.lock().spooling.problem().map(ToString::to_string)
    }

    /// How many bytes of memory the outputs take.
    pub fn memory(&self) -> usize {
        let lanes = self.lock();
        lanes.stdout.memory() + lanes.stderr.memory()
    }

    /// Leaves an ended session's outputs to the disk alone. Says whether they are there.
    pub fn forget(&self) -> bool {
        let mut lanes = self.lock();
        lanes.begin_spooling();
        lanes.spooling.close();
        if !lanes.spooling.is_done() {
            return false;
        }
        lanes.forgotten = true;
        for stream in Stream::BOTH {
            lanes.lane(stream).clear();
        }
        true
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
        self.lock().read_from(position)
    }

    /// What is kept of what came after a mark, in arrival order, and the mark after that. A gap counts only what came
    /// after the mark.
    pub fn since(&self, mark: Mark) -> (Vec<Piece>, Mark) {
        let lanes = self.lock();
        let mut pieces = Vec::new();
        for (stream, lane) in [(Stream::Stdout, &lanes.stdout), (Stream::Stderr, &lanes.stderr)] {
            let unread = lane.size().0.saturating_sub(mark.of(stream));
            pieces.extend(lane.unread(mark.position, unread, stream));
        }
        pieces.sort_by_key(|(at, _)| *at);
        let (stdout, stderr) = (lanes.stdout.size().0, lanes.stderr.size().0);
        let now = Mark { position: lanes.position, stdout, stderr };
        (pieces.into_iter().map(|(_, piece)| piece).collect(), now)
    }

    /// One output: its beginning, how much is missing, its end.
    pub fn captured(&self, stream: Stream) -> Captured {
        let mut lanes = self.lock();
        let limit = lanes.lane(stream).limit();
        match lanes.spooling.record(stream) {
            Some(record) if lanes.forgotten => {
                record.and_then(|record| record.ends(limit)).unwrap_or_default()
            }
            _ => lanes.lane(stream).captured(),
        }
    }

    /// The end of one output, even where a reader gets all of it.
    pub fn last(&self, stream: Stream, most: usize) -> Vec<u8> {
        self.lock().lane(stream).last(most)
    }

    /// How many bytes an output has printed, and how many of them are missing from what is captured.
    pub fn size(&self, stream: Stream) -> (u64, u64) {
        self.lock().lane(stream).size()
    }

    fn lock(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lanes {
    fn keep(&mut self, stream: Stream, bytes: &[u8]) {
        let at = self.position;
        if !self.lane(stream).has_room(bytes.len()) {
            self.begin_spooling();
        }
        self.spooling.append(stream, bytes);
        self.lane(stream).append(at, bytes);
    }

    fn read_from(&self, position: u64) -> Vec<Piece> {
        let mut pieces = self.stdout.read_from(position, Stream::Stdout);
        pieces.extend(self.stderr.read_from(position, Stream::Stderr));
        pieces.sort_by_key(|(at, _)| *at);
        pieces.into_iter().map(|(_, piece)| piece).collect()
    }

    fn lane(&mut self, stream: Stream) -> &mut Lane {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }

    /// From now on everything goes to the disk too, beginning with what is in memory, which is all there was.
    fn begin_spooling(&mut self) {
        if self.spooling.open() {
            let lanes = [(Stream::Stdout, &self.stdout), (Stream::Stderr, &self.stderr)];
            for (stream, lane) in lanes {
                lane.chunks().for_each(|chunk| self.spooling.append(stream, chunk));
            }
        }
    }
}

#[cfg(test)]
mod tests;
