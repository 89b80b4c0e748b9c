//! HTTP/1.1, as much of it as a client of one server needs.

use std::io::{self, ErrorKind};

use crate::Error;
use crate::connection::Connection;

/// More than any head or chunk line of a server that means well.
const LONGEST_HEAD: usize = 64 * 1024;

/// An answer whose head has been read.
pub(crate) struct Response {
    pub(crate) status: u16,
    connection: Connection,
    framing: Framing,
}

/// Where the body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// After so many more bytes.
    Length(u64),
    /// A line with the size of a chunk comes next.
    ChunkSize,
    /// So many more bytes of a chunk come next.
    Chunk(u64),
    /// The line break behind a chunk comes next.
    ChunkEnd,
    /// Lines until an empty one come next.
    Trailers,
    /// With the connection.
    Close,
    /// Here.
    Over,
}

impl Response {
    /// Reads the head of an answer.
    pub(crate) fn read(mut connection: Connection) -> Result<Self, Error> {
        loop {
            if let Some((status, framing, length)) = parse(connection.held())? {
                connection.take(length);
                // An answer that another one follows.
                if (100..200).contains(&status) {
                    continue;
                }
                return Ok(Response { status, connection, framing });
            }
            if connection.held().len() > LONGEST_HEAD {
                return Err(Error::protocol("the head of its answer is too long"));
            }
            connection.fill().map_err(Error::Lost)?;
        }
    }

    /// What comes next of the body, without taking it; empty at its end.
    pub(crate) fn piece(&mut self) -> io::Result<&[u8]> {
        loop {
            match self.framing {
                Framing::Over | Framing::Length(0) => {
                    self.framing = Framing::Over;
                    return Ok(&[]);
                }
                Framing::Chunk(0) => self.framing = Framing::ChunkEnd,
                Framing::Length(left) | Framing::Chunk(left) => return self.held(left),
                Framing::Close => return self.until_closed(),
                Framing::ChunkEnd => {
                    self.line()?;
                    self.framing = Framing::ChunkSize;
                }
                Framing::ChunkSize => {
                    let size = chunk_size(&self.line()?).ok_or(ErrorKind::InvalidData)?;
                    self.framing = if size == 0 { Framing::Trailers } else { Framing::Chunk(size) };
                }
                Framing::Trailers => {
                    if self.line()?.is_empty() {
                        self.framing = Framing::Over;
                    }
                }
            }
        }
    }

    /// Takes some of the piece.
    pub(crate) fn take(&mut self, bytes: usize) {
        self.connection.take(bytes);
        if let Framing::Length(left) | Framing::Chunk(left) = &mut self.framing {
            *left = left.saturating_sub(bytes as u64);
        }
    }

    /// The connection for another request, if the answer was read to its end.
    pub(crate) fn into_connection(self) -> Option<Connection> {
        matches!(self.framing, Framing::Over | Framing::Length(0)).then_some(self.connection)
    }

    /// The whole body, up to a bound.
    pub(crate) fn body(&mut self, most: usize) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let piece = self.piece()?;
            if piece.is_empty() {
                return Ok(body);
            }
            let count = piece.len();
            body.extend_from_slice(piece);
            if body.len() > most {
                return Err(io::Error::new(ErrorKind::InvalidData, "its answer is too long"));
            }
            self.take(count);
        }
    }

    fn held(&mut self, left: u64) -> io::Result<&[u8]> {
        if self.connection.held().is_empty() {
            self.connection.fill()?;
        }
        let held = self.connection.held();
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(held.len());
        Ok(held.get(..most).unwrap_or_default())
    }

    fn until_closed(&mut self) -> io::Result<&[u8]> {
        if self.connection.held().is_empty()
            && let Err(error) = self.connection.fill()
            && error.kind() != ErrorKind::UnexpectedEof
        {
            return Err(error);
        }
        Ok(self.connection.held())
    }

    /// A line without its end.
    fn line(&mut self) -> io::Result<Vec<u8>> {
        loop {
            let held = self.connection.held();
            if let Some(end) = memchr::memchr(b'\n', held) {
                let line = held.get(..end).unwrap_or_default().trim_ascii_end().to_vec();
                self.connection.take(end + 1);
                return Ok(line);
            }
            if held.len() > LONGEST_HEAD {
                return Err(ErrorKind::InvalidData.into());
            }
            self.connection.fill()?;
        }
    }
}

fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next()?.trim_ascii();
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The status, where the body ends, and how long the head is; `None` while it is not all there.
fn parse(held: &[u8]) -> Result<Option<(u16, Framing, usize)>, Error> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    let parsed = response.parse(held).map_err(|error| Error::protocol(format!("no HTTP: {error}")))?;
    let httparse::Status::Complete(length) = parsed else { return Ok(None) };
    let status = response.code.unwrap_or_default();
    let mut framing = if matches!(status, 204 | 304) { Framing::Over } else { Framing::Close };
    for header in response.headers.iter() {
        let value = std::str::from_utf8(header.value).unwrap_or_default().trim();
        if header.name.eq_ignore_ascii_case("transfer-encoding") && value.eq_ignore_ascii_case("chunked") {
            framing = Framing::ChunkSize;
        } else if header.name.eq_ignore_ascii_case("content-length") && framing != Framing::ChunkSize {
            let length = value.parse().map_err(|_| Error::protocol("its content-length is no number"))?;
            framing = Framing::Length(length);
        }
    }
    Ok(Some((status, framing, length)))
}
