//! One session's spool while it is written.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use runward_model::Stream;

use crate::problem::Problem;
use crate::record::Record;
use crate::store::Store;

/// Small prints are gathered into writes of this size.
const BUFFER: usize = 64 * 1024;

/// One session's spool while it is written. Appending never fails: what is not written is counted.
#[derive(Debug)]
pub struct Writer {
    store: Store,
    folder: PathBuf,
    /// Held so that nobody removes the folder meanwhile.
    _lock: File,
    /// How many bytes of both outputs are kept.
    kept: u64,
    lanes: [Lane; 2],
    problem: Option<Problem>,
}

#[derive(Debug, Default)]
struct Lane {
    file: Option<Arc<File>>,
    buffer: Vec<u8>,
    written: u64,
    dropped: u64,
}

/// A spool that is complete. Its files stay until they are too old or their room is wanted.
#[derive(Clone, Debug)]
pub struct Kept {
    folder: PathBuf,
    written: [u64; 2],
    dropped: [u64; 2],
}

impl Writer {
    pub(crate) fn new(store: Store, folder: PathBuf, lock: File) -> Self {
        let lanes = <[Lane; 2]>::default();
        Writer { store, folder, _lock: lock, kept: 0, lanes, problem: None }
    }

    /// Adds what an output has printed.
    pub fn append(&mut self, stream: Stream, bytes: &[u8]) {
        let kept = self.claim(bytes.len() as u64);
        let (kept, dropped) = bytes.split_at(usize::try_from(kept).unwrap_or(0).min(bytes.len()));
        let lane = lane(&mut self.lanes, stream);
        lane.dropped += dropped.len() as u64;
        lane.buffer.extend_from_slice(kept);
        if lane.buffer.len() >= BUFFER {
            self.flush(stream);
        }
    }

    /// What was written of an output so far.
    pub fn record(&mut self, stream: Stream) -> Record {
        self.flush(stream);
        let lane = lane(&mut self.lanes, stream);
        Record::from_file(lane.file.clone(), lane.written, lane.dropped)
    }

    /// Why something was dropped, if something was.
    pub fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }

    /// Writes the rest and lets go of the files.
    pub fn close(mut self) -> (Kept, Option<Problem>) {
        for stream in Stream::BOTH {
            self.flush(stream);
        }
        let [out, err] = &self.lanes;
        let (written, dropped) = ([out.written, err.written], [out.dropped, err.dropped]);
        (Kept { folder: self.folder, written, dropped }, self.problem)
    }

    /// How many of so many bytes may be kept.
    fn claim(&mut self, bytes: u64) -> u64 {
        if self.problem.is_some() {
            return 0;
        }
        let taken = self.store.take(bytes);
        self.kept += taken;
        if taken < bytes {
            let quota = self.store.settings().quota;
            self.problem = Some(Problem::OverQuota { kept: self.kept, quota });
        }
        taken
    }

    fn flush(&mut self, stream: Stream) {
        let path = self.folder.join(stream.name());
        let lane = lane(&mut self.lanes, stream);
        if lane.buffer.is_empty() {
            return;
        }
        let result = lane.open(path).and_then(|file| (&*file).write_all(&lane.buffer));
        let bytes = lane.buffer.len() as u64;
        lane.buffer.clear();
        self.store.settle(bytes);
        match result {
            Ok(()) => lane.written += bytes,
            Err(error) => {
                lane.dropped += bytes;
                self.problem = Some(error.into());
            }
        }
    }
}

impl Lane {
    fn open(&mut self, path: PathBuf) -> io::Result<Arc<File>> {
        if let Some(file) = &self.file {
            return Ok(file.clone());
        }
        let file = OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(path)?;
        Ok(self.file.insert(Arc::new(file)).clone())
    }
}

impl Kept {
    /// An output; an error when it has been removed.
    pub fn record(&self, stream: Stream) -> io::Result<Record> {
        let index = index(stream);
        let [written, dropped] = [self.written, self.dropped].map(|counts| counts.get(index).copied());
        let (written, dropped) = (written.unwrap_or_default(), dropped.unwrap_or_default());
        if written == 0 {
            self.folder.symlink_metadata()?;
            return Ok(Record::from_file(None, 0, dropped));
        }
        let file = File::open(self.folder.join(stream.name()))?;
        Ok(Record::from_file(Some(Arc::new(file)), written, dropped))
    }
}

fn lane(lanes: &mut [Lane; 2], stream: Stream) -> &mut Lane {
    let [stdout, stderr] = lanes;
    match stream {
        Stream::Stdout => stdout,
        Stream::Stderr => stderr,
    }
}

const fn index(stream: Stream) -> usize {
    match stream {
        Stream::Stdout => 0,
        Stream::Stderr => 1,
    }
}
