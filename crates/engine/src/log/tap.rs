//! What a session prints as numbered events, for readers that may miss nothing.
//!
//! Either a window in memory for one reader, which holds the session back while it is full; or a journal on disk for
//! any number of readers, which holds nothing back. Events are numbered from 1: what comes before them, that the
//! session has started, is number 0.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runward_model::Stream;
use runward_spool::{EventPosition, Journal};
use tokio::sync::Notify;

/// How many bytes wait for a reader that takes them away: enough to read on while it sends.
const WINDOW: usize = 2 << 20;

/// How many bytes are kept for a reader that has to say what has arrived: enough for what is under way.
const UNACKNOWLEDGED: usize = 4 << 20;

/// For how long events are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// Until the one reader has taken them. A session that it does not keep up with is held back.
    UntilTaken,
    /// Until the reader has said that they arrived. The same holds for the session.
    UntilAcknowledged,
    /// On disk, for any number of readers, none of which holds the session back.
    OnDisk,
}

/// How what was printed is written down for its readers: from its number, where it was printed, and what.
pub type Shape = fn(u64, Stream, &[u8]) -> Vec<u8>;

/// One event, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Something was printed; this is how it was written down.
    Printed(Arc<Vec<u8>>),
    /// Something was printed and could not be kept.
    Dropped {
        /// Its number.
        seq: u64,
        /// Where.
        stream: Stream,
        /// How much.
        bytes: u64,
    },
    /// Nothing more will be printed.
    End {
        /// The number that is free for whatever is said of the end.
        seq: u64,
    },
    /// It was there, and is no longer.
    Gone,
}

/// What a session prints as numbered events.
#[derive(Debug)]
pub struct Tap {
    kept: Mutex<Kept>,
    news: Notify,
    room: Notify,
}

#[derive(Debug)]
struct Kept {
    store: Store,
    shape: Shape,
    /// The number of the next event.
    next: u64,
    is_over: bool,
}

#[derive(Debug)]
enum Store {
    Window {
        events: VecDeque<Printed>,
        bytes: usize,
        keeping: Keeping,
    },
    Disk(Journal),
    /// Nobody will read it.
    Nowhere,
}

#[derive(Debug)]
struct Printed {
    seq: u64,
    data: Arc<Vec<u8>>,
}

impl Tap {
    /// A window for one reader.
    pub(super) fn window(keeping: Keeping, shape: Shape) -> Self {
        Tap::new(Store::Window { events: VecDeque::new(), bytes: 0, keeping }, shape)
    }

    /// A journal for any number of readers.
    pub(super) fn journal(journal: Journal, shape: Shape) -> Self {
        Tap::new(Store::Disk(journal), shape)
    }

    fn new(store: Store, shape: Shape) -> Self {
        let kept = Kept { store, shape, next: 1, is_over: false };
        Tap { kept: Mutex::new(kept), news: Notify::new(), room: Notify::new() }
    }

    /// For how long events are kept; `None` when nobody will read them.
    pub fn keeping(&self) -> Option<Keeping> {
        match &self.lock().store {
            Store::Window { keeping, .. } => Some(*keeping),
            Store::Disk(_) => Some(Keeping::OnDisk),
            Store::Nowhere => None,
        }
    }

    /// Adds what an output has printed.
    pub(super) fn push(&self, stream: Stream, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut kept = self.lock();
        let (seq, shape) = (kept.next, kept.shape);
        let is_kept = match &mut kept.store {
            Store::Window { events, bytes: held, .. } => {
                // Written down at once, from the buffer that it was read into: nothing is copied in between.
                let data = shape(seq, stream, bytes);
                *held += data.len();
                events.push_back(Printed { seq, data: Arc::new(data) });
                true
            }
            Store::Disk(journal) => journal.append(stream, bytes),
            Store::Nowhere => false,
        };
        kept.next += u64::from(is_kept);
        drop(kept);
        self.news.notify_waiters();
    }

    /// Nothing more will be printed.
    pub(super) fn close(&self) {
        let mut kept = self.lock();
        kept.is_over = true;
        if let Store::Disk(journal) = &mut kept.store {
            journal.close();
        }
        drop(kept);
        self.news.notify_waiters();
    }

    /// Whether the session has to wait for its reader.
    pub(crate) fn is_full(&self) -> bool {
        match &self.lock().store {
            Store::Window { bytes, keeping: Keeping::UntilAcknowledged, .. } => *bytes >= UNACKNOWLEDGED,
            Store::Window { bytes, .. } => *bytes >= WINDOW,
            Store::Disk(_) | Store::Nowhere => false,
        }
    }

    /// Ends when the session need not wait for its reader. May be dropped and asked again.
    pub(crate) async fn has_room(&self) {
        loop {
            let mut notified = std::pin::pin!(self.room.notified());
            notified.as_mut().enable();
            if !self.is_full() {
                return;
            }
            notified.await;
        }
    }

    /// Everything up to this number has arrived and need not be kept.
    pub fn acknowledge(&self, seq: u64) {
        let mut kept = self.lock();
        if let Store::Window { events, bytes, .. } = &mut kept.store {
            while events.front().is_some_and(|event| event.seq <= seq) {
                *bytes -= events.pop_front().map_or(0, |event| event.data.len());
            }
        }
        drop(kept);
        self.room.notify_waiters();
    }

    /// Nobody will read any more of it: the session is no longer held back, and nothing is kept.
    pub fn abandon(&self) {
        self.lock().store = Store::Nowhere;
        self.room.notify_waiters();
        self.news.notify_waiters();
    }

    /// A reader that begins with this number.
    pub fn reader(self: &Arc<Self>, seq: u64) -> Reader {
        Reader { tap: self.clone(), next: seq.max(1), place: None }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One reader of a session's events.
#[derive(Debug)]
pub struct Reader {
    tap: Arc<Tap>,
    next: u64,
    place: Option<EventPosition>,
}

impl Reader {
    /// The number of the event that is read next.
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// The next event, waited for. May be dropped and asked again.
    pub async fn next(&mut self) -> io::Result<Event> {
        let tap = self.tap.clone();
        loop {
            let mut notified = std::pin::pin!(tap.news.notified());
            notified.as_mut().enable();
            if let Some(event) = self.look()? {
                return Ok(event);
            }
            notified.await;
        }
    }

    /// The next event, if there is one already.
    fn look(&mut self) -> io::Result<Option<Event>> {
        let tap = self.tap.clone();
        let mut kept = tap.lock();
        let (next, shape, is_over) = (kept.next, kept.shape, kept.is_over);
        let found = match &mut kept.store {
            Store::Nowhere => Some(Event::Gone),
            Store::Window { events, bytes, keeping } => {
                let found = self.in_window(events, next);
                if let (Some(Event::Printed(data)), Keeping::UntilTaken) = (&found, *keeping) {
                    *bytes -= data.len();
                    events.pop_front();
                    tap.room.notify_waiters();
                }
                found
            }
            Store::Disk(journal) => self.in_journal(journal, shape, is_over)?,
        };
        let end = match &kept.store {
            Store::Disk(journal) => {
                next + Stream::BOTH.map(|stream| u64::from(journal.dropped(stream) > 0)).iter().sum::<u64>()
            }
            Store::Window { .. } | Store::Nowhere => next,
        };
        let found = found.or_else(|| (is_over && self.next >= end).then_some(Event::End { seq: end }));
        if let Some(Event::Printed(_) | Event::Dropped { .. }) = found {
            self.next += 1;
        }
        Ok(found)
    }

    /// The wanted event is the first one for a reader that takes them away.
    fn in_window(&self, events: &VecDeque<Printed>, next: u64) -> Option<Event> {
        let first = events.front().map_or(next, |event| event.seq);
        let Some(index) = self.next.checked_sub(first) else { return Some(Event::Gone) };
        events.get(usize::try_from(index).ok()?).map(|event| Event::Printed(event.data.clone()))
    }

    fn in_journal(&mut self, journal: &Journal, shape: Shape, is_over: bool) -> io::Result<Option<Event>> {
        let place = match self.place {
            Some(place) => place,
            None => journal.find(self.next - 1)?,
        };
        if let Some((stream, data, behind)) = journal.read(place)? {
            self.place = Some(behind);
            return Ok(Some(Event::Printed(Arc::new(shape(self.next, stream, &data)))));
        }
        self.place = Some(place);
        let lost = Stream::BOTH.map(|stream| (stream, journal.dropped(stream)));
        let mut lost = lost.into_iter().filter(|(_, bytes)| *bytes > 0);
        let told = usize::try_from((self.next - 1).saturating_sub(journal.events())).unwrap_or(usize::MAX);
        // How much is known only at the end, and nothing is kept after the first that is not.
        Ok(lost.nth(told).filter(|_| is_over).map(|(stream, bytes)| Event::Dropped {
            seq: self.next,
            stream,
            bytes,
        }))
    }
}

#[cfg(test)]
mod tests;
