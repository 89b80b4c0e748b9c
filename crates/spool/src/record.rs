//! One output as it stood at one moment.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use runward_model::Captured;

/// One output as it stood at one moment, wherever it is. Reading it goes from its beginning to its end.
#[derive(Clone, Debug)]
pub struct Record {
    place: Source,
    position: u64,
    length: u64,
    missing: u64,
}

#[derive(Clone, Debug)]
enum Source {
    Memory(Arc<[u8]>),
    File(Option<Arc<File>>),
}

impl Record {
    /// An output that is in memory, of which this many more bytes are gone.
    pub fn in_memory(bytes: Vec<u8>, missing: u64) -> Self {
        let length = bytes.len() as u64;
        Record { place: Source::Memory(bytes.into()), position: 0, length, missing }
    }

    pub(crate) fn from_file(file: Option<Arc<File>>, length: u64, missing: u64) -> Self {
        Record { place: Source::File(file), position: 0, length, missing }
    }

    /// How many bytes there are to read.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// How many bytes were printed after those and are gone.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// Its beginning and its end, half of `limit` each; everything, where it is no more than that.
    pub fn ends(mut self, limit: usize) -> io::Result<Captured> {
        let (half, mut head, mut tail) = ((limit / 2) as u64, Vec::new(), Vec::new());
        if self.missing == 0 && self.length <= 2 * half {
            self.read_to_end(&mut head)?;
            return Ok(Captured { head, missing: 0, tail });
        }
        Read::by_ref(&mut self).take(half).read_to_end(&mut head)?;
        let rest = (self.length - head.len() as u64).min(half);
        // Where the end was never written, what comes last on disk is no end.
        if self.missing == 0 {
            self.clone().from(self.length - rest).read_to_end(&mut tail)?;
        }
        let missing = self.length + self.missing - (head.len() + tail.len()) as u64;
        Ok(Captured { head, missing, tail })
    }

    /// The same from another place on.
    #[must_use]
    pub fn from(mut self, position: u64) -> Self {
        self.position = position.min(self.length);
        self
    }
}

impl Read for Record {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length - self.position).unwrap_or(usize::MAX);
        let wanted = left.min(buffer.len());
        let Some(buffer) = buffer.get_mut(..wanted).filter(|buffer| !buffer.is_empty()) else { return Ok(0) };
        let read = match &self.place {
            Source::Memory(bytes) => {
                let start = usize::try_from(self.position).unwrap_or(usize::MAX);
                bytes.get(start..).unwrap_or_default().read(buffer)?
            }
            Source::File(Some(file)) => file.read_at(buffer, self.position)?,
            Source::File(None) => 0,
        };
        self.position += read as u64;
        Ok(read)
    }
}
