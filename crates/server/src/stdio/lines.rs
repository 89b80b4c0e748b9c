//! Lines of bounded length.

use std::io;

use memchr::memchr;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// How much is asked for at once.
const READ: usize = 64 * 1024;

/// How much of the end of an over-long line is kept.
const TAIL: usize = 4 * 1024;

/// Reads lines and never holds more of one than a limit.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: BufReader<R>,
    gathered: Gathered,
    is_complete: bool,
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A line without its newline.
    Whole(&'a [u8]),
    /// One over the limit: its beginning, as long as the limit, and its end.
    TooLong(&'a [u8], &'a [u8]),
    /// The end.
    End,
}

#[derive(Debug)]
struct Gathered {
    limit: usize,
    start: Vec<u8>,
    /// Once the limit is passed: the last bytes seen.
    tail: Option<Vec<u8>>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Lines of at most `limit` bytes.
    pub(super) fn new(input: R, limit: usize) -> Self {
        let gathered = Gathered { limit, start: Vec::new(), tail: None };
        Lines { input: BufReader::with_capacity(READ, input), gathered, is_complete: false }
    }

    /// The next line. May be dropped before its end and called again: what was read so far is kept.
    pub(super) async fn next(&mut self) -> io::Result<Line<'_>> {
        if std::mem::take(&mut self.is_complete) {
            self.gathered.clear();
        }
        loop {
            let available = self.input.fill_buf().await?;
            let newline = memchr(b'\n', available);
            let at_end = available.is_empty();
            let part = newline.and_then(|at| available.get(..at)).unwrap_or(available);
            let used = part.len() + usize::from(newline.is_some());
            self.gathered.push(part);
            self.input.consume(used);
            if at_end && self.gathered.is_empty() {
                return Ok(Line::End);
            }
            if at_end || newline.is_some() {
                self.is_complete = true;
                return Ok(self.gathered.line());
            }
        }
    }
}

impl Gathered {
    fn push(&mut self, part: &[u8]) {
        let room = self.limit - self.start.len();
        let (fits, rest) = part.split_at_checked(room).unwrap_or((part, &[]));
        self.start.extend_from_slice(fits);
        if !rest.is_empty() {
            let tail = self.tail.get_or_insert_default();
            tail.extend_from_slice(rest);
            let excess = tail.len().saturating_sub(TAIL);
            tail.drain(..excess);
        }
    }

    fn line(&self) -> Line<'_> {
        match &self.tail {
            None => Line::Whole(&self.start),
            Some(tail) => Line::TooLong(&self.start, tail),
        }
    }

    fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    fn clear(&mut self) {
        self.start.clear();
        self.start.shrink_to(READ);
        self.tail = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tokio_util::io::StreamReader;

    async fn read(bytes: &[u8], piece: usize, limit: usize) -> Vec<String> {
        let pieces = bytes.chunks(piece).map(io::Result::Ok).collect::<Vec<_>>();
        let mut lines = Lines::new(StreamReader::new(futures_util::stream::iter(pieces)), limit);
        let mut seen = Vec::new();
        loop {
            seen.push(match lines.next().await.expect("reads") {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong(start, end) => {
                    format!("{}…{}", String::from_utf8_lossy(start), String::from_utf8_lossy(end))
                }
                Line::End => return seen,
            });
        }
    }

    #[tokio::test]
    async fn a_line_over_the_limit_keeps_its_start_and_end_and_the_next_is_whole() {
        for piece in 1..12 {
            assert_eq!(read(b"123456789\nab\n\nlast", piece, 4).await, ["1234…56789", "ab", "", "last"]);
        }
    }

    #[tokio::test]
    async fn no_more_than_the_limit_and_the_tail_is_held() {
        let long = vec![b'x'; 1_000_000];
        let mut lines = Lines::new(&long[..], 1000);
        let Line::TooLong(start, tail) = lines.next().await.expect("reads") else { panic!("too long") };
        assert_eq!((start.len(), tail.len()), (1000, TAIL));
        assert_eq!(lines.next().await.expect("reads"), Line::End);
    }

    proptest! {
        #[test]
        fn lines_are_what_lies_between_newlines(text in "[ab\n]{0,40}", piece in 1_usize..9) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("starts");
            let mut expected: Vec<_> = text.split('\n').map(str::to_owned).collect();
            if expected.last().is_some_and(String::is_empty) {
                expected.pop();
            }
            prop_assert_eq!(runtime.block_on(read(text.as_bytes(), piece, 100)), expected);
        }
    }
}
