//! What a session printed as numbered events, on disk, for any number of readers.
//!
//! One file: a head of five bytes (which output, how many bytes), then the bytes, event after event. A reader that goes
//! from one event to the next reads on; one that begins somewhere looks for the place from the nearest known offset.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::Arc;

use runward_model::Stream;

use crate::problem::Problem;
use crate::store::Store;

/// The file in the folder of a session.
pub(crate) const FILE: &str = "events";

/// The offset of every so many-th event is known.
const STEP: u64 = 256;

/// A byte that names the output, and four that say how long the event is.
const HEAD: usize = 5;

/// What a session printed as numbered events. Appending never fails: what is not written is counted.
#[derive(Debug)]
pub struct Journal {
    store: Store,
    path: PathBuf,
    /// While it is being written.
    file: Option<Arc<File>>,
    /// Held so that nobody removes the folder meanwhile.
    lock: Option<File>,
    /// How many events there are.
    events: u64,
    /// How many bytes the file has.
    length: u64,
    /// The offset of every [`STEP`]th event.
    steps: Vec<u64>,
    dropped: [u64; 2],
    problem: Option<Problem>,
}

/// Where a reader is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventPosition {
    event: u64,
    offset: u64,
}

impl EventPosition {
    /// The number of the event that is read next; the first is 0.
    pub fn event(self) -> u64 {
        self.event
    }
}

impl Journal {
    /// Begins in a folder of this name. Where that fails everything that is printed is counted as dropped.
    pub fn begin(store: &Store, name: &str) -> Self {
        let made = store.folder(name).and_then(|(folder, lock)| {
            let (mut options, path) = (OpenOptions::new(), folder.join(FILE));
            let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
            Ok((path, file, lock))
        });
        let (path, file, lock, problem) = match made {
            Ok((path, file, lock)) => (path, Some(Arc::new(file)), Some(lock), None),
            Err(problem) => (PathBuf::new(), None, None, Some(problem)),
        };
        let (store, steps) = (store.clone(), Vec::new());
        Journal { store, path, file, lock, events: 0, length: 0, steps, dropped: [0; 2], problem }
    }

    /// Adds what an output has printed. Whether it is kept; after the first that is not, none is.
    pub fn append(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        // What is read from an output at once is far below this.
        let Ok(length) = u32::try_from(bytes.len()) else { return self.drop_event(stream, bytes, None) };
        let whole = (HEAD + bytes.len()) as u64;
        let Some(file) = self.file.as_ref().filter(|_| self.problem.is_none()) else {
            return self.drop_event(stream, bytes, None);
        };
        let taken = self.store.take(whole);
        self.store.settle(taken);
        if taken < whole {
            let (kept, quota) = (self.length, self.store.settings().quota);
            return self.drop_event(stream, bytes, Some(Problem::OverQuota { kept, quota }));
        }
        let [a, b, c, d] = length.to_le_bytes();
        let event = [&[mark(stream), a, b, c, d], bytes].concat();
        if let Err(error) = file.write_all_at(&event, self.length) {
            return self.drop_event(stream, bytes, Some(error.into()));
        }
        if self.events.is_multiple_of(STEP) {
            self.steps.push(self.length);
        }
        self.events += 1;
        self.length += whole;
        true
    }

    /// How many events are kept.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// How many bytes of an output are not kept.
    pub fn dropped(&self, stream: Stream) -> u64 {
        let [stdout, stderr] = self.dropped;
        if stream == Stream::Stdout { stdout } else { stderr }
    }

    /// Why some are not.
    pub fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }

    /// Nothing more comes: from now on its folder may make room for others, and no descriptor is held.
    pub fn close(&mut self) {
        self.lock = None;
        self.file = None;
    }

    /// The place of an event; the end of the journal when there is no such event yet.
    pub fn find(&self, event: u64) -> io::Result<EventPosition> {
        let event = event.min(self.events);
        let step =
            usize::try_from(event / STEP).unwrap_or(usize::MAX).min(self.steps.len().saturating_sub(1));
        let mut place = EventPosition {
            event: step as u64 * STEP,
            offset: self.steps.get(step).copied().unwrap_or_default(),
        };
        if place.event < event {
            let file = self.file()?;
            while place.event < event {
                place = after(place, head(&file, place)?.1);
            }
        }
        Ok(place)
    }

    /// The event at a place, and the place behind it; `None` when there is none yet.
    pub fn read(&self, place: EventPosition) -> io::Result<Option<(Stream, Vec<u8>, EventPosition)>> {
        if place.event >= self.events {
            return Ok(None);
        }
        let file = self.file()?;
        let (stream, length) = head(&file, place)?;
        let mut data = vec![0; length as usize];
        file.read_exact_at(&mut data, place.offset + HEAD as u64)?;
        Ok(Some((stream, data, after(place, length))))
    }

    /// An error when it has been removed.
    fn file(&self) -> io::Result<Arc<File>> {
        match &self.file {
            Some(file) => Ok(file.clone()),
            None => File::open(&self.path).map(Arc::new),
        }
    }

    fn drop_event(&mut self, stream: Stream, bytes: &[u8], problem: Option<Problem>) -> bool {
        let [stdout, stderr] = &mut self.dropped;
        *(if stream == Stream::Stdout { stdout } else { stderr }) += bytes.len() as u64;
        if self.problem.is_none() {
            self.problem = problem;
        }
        false
    }
}

/// Which output the event at a place is of, and how long it is.
fn head(file: &File, place: EventPosition) -> io::Result<(Stream, u32)> {
    let mut head = [0; HEAD];
    file.read_exact_at(&mut head, place.offset)?;
    let [mark, length @ ..] = head;
    let stream = if mark == 1 { Stream::Stdout } else { Stream::Stderr };
    Ok((stream, u32::from_le_bytes(length)))
}

/// As the kernel numbers them.
const fn mark(stream: Stream) -> u8 {
    match stream {
        Stream::Stdout => 1,
        Stream::Stderr => 2,
    }
}

const fn after(place: EventPosition, length: u32) -> EventPosition {
    EventPosition { event: place.event + 1, offset: place.offset + HEAD as u64 + length as u64 }
}
