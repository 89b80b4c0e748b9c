//! A record line by line, with a bound on what is kept of a line.

use std::io::{self, BufRead, BufReader};

use crate::record::Record;

/// What is read at once.
const BLOCK: usize = 256 * 1024;

/// A record line by line.
pub(crate) struct Lines {
    reader: BufReader<Record>,
    kept: Vec<u8>,
    /// How many bytes of a line are kept.
    longest: usize,
}

impl Lines {
    pub(crate) fn of(record: Record, longest: usize) -> Self {
        let block = usize::try_from(record.length()).unwrap_or(BLOCK).clamp(1, BLOCK);
        Lines { reader: BufReader::with_capacity(block, record), kept: Vec::new(), longest }
    }

    /// The beginning of the next line, and how many bytes it has without its newline.
    pub(crate) fn next(&mut self) -> io::Result<Option<(&[u8], u64)>> {
        self.kept.clear();
        let mut length = 0;
        loop {
            let block = self.reader.fill_buf()?;
            if block.is_empty() {
                return Ok((length > 0).then_some((self.kept.as_slice(), length)));
            }
            let newline = memchr::memchr(b'\n', block);
            let piece = block.get(..newline.unwrap_or(block.len())).unwrap_or_default();
            let room = self.longest.saturating_sub(self.kept.len()).min(piece.len());
            self.kept.extend_from_slice(piece.get(..room).unwrap_or_default());
            length += piece.len() as u64;
            let used = piece.len() + usize::from(newline.is_some());
            self.reader.consume(used);
            if newline.is_some() {
                return Ok(Some((&self.kept, length)));
            }
        }
    }
}

/// How many lines there are; a last one without a newline counts.
pub(crate) fn count(record: Record) -> io::Result<u64> {
    let mut reader = BufReader::with_capacity(BLOCK, record);
    let (mut lines, mut ended) = (0, true);
    loop {
        let block = reader.fill_buf()?;
        let Some(last) = block.last() else { return Ok(lines + u64::from(!ended)) };
        ended = *last == b'\n';
        lines += memchr::memchr_iter(b'\n', block).count() as u64;
        let used = block.len();
        reader.consume(used);
    }
}
