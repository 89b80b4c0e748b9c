//! The events of one command, as they come.

use crate::Error;
use crate::event::{self, Event};
use crate::framing::Response;

/// Longer than any line of a server that means well.
const LONGEST_LINE: usize = 64 << 20;

/// The events of one command, read straight from its connection.
pub struct Events {
    response: Response,
    /// The beginning of a line whose rest has not come yet.
    partial: Vec<u8>,
    /// How much of the piece belongs to the line before.
    taken: usize,
    data: Vec<u8>,
    next: u64,
}

impl Events {
    pub(crate) fn new(response: Response) -> Self {
        Events { response, partial: Vec::new(), taken: 0, data: Vec::new(), next: 0 }
    }

    /// The next event; `None` at the end of the stream.
    pub fn read_next(&mut self) -> Result<Option<Event<'_>>, Error> {
        self.response.take(std::mem::take(&mut self.taken));
        self.partial.clear();
        let Some(whole) = self.find_line()? else { return Ok(None) };
        let line = match whole {
            Whole::Held(length) => {
                self.taken = length + 1;
                self.response.piece().map_err(Error::Lost)?.get(..length).unwrap_or_default()
            }
            Whole::Gathered => &self.partial,
        };
        let (seq, event) = event::read(line, &mut self.data)?;
        self.next = seq + 1;
        Ok(Some(event))
    }

    /// The number of the event that comes after those that came.
    pub fn next_number(&self) -> u64 {
        self.next
    }

    fn find_line(&mut self) -> Result<Option<Whole>, Error> {
        loop {
            let piece = self.response.piece().map_err(Error::Lost)?;
            if piece.is_empty() {
                return if self.partial.is_empty() { Ok(None) } else { Ok(Some(Whole::Gathered)) };
            }
            let (length, end) = (piece.len(), memchr::memchr(b'\n', piece));
            match end {
                Some(end) if self.partial.is_empty() => return Ok(Some(Whole::Held(end))),
                Some(end) => self.partial.extend_from_slice(piece.get(..end).unwrap_or_default()),
                None => self.partial.extend_from_slice(piece),
            }
            self.response.take(end.map_or(length, |end| end + 1));
            if end.is_some() {
                return Ok(Some(Whole::Gathered));
            }
            if self.partial.len() > LONGEST_LINE {
                return Err(Error::protocol("a line is too long"));
            }
        }
    }
}

/// Where a line is.
enum Whole {
    /// At the beginning of the piece, this long.
    Held(usize),
    /// In `partial`.
    Gathered,
}
