//! Some lines of a record.

use std::io::{self, Read as _};

use regex::bytes::Regex;

use crate::lines::{self, Lines};
use crate::record::Record;

/// What is shown of a line.
const LONGEST_SHOWN: usize = 2_000;

/// What is searched of a line.
const LONGEST_SEARCHED: usize = 1 << 20;

/// What is shown in all. The first line is shown whatever its size.
const PAGE: usize = 64 * 1024;

/// Which lines.
#[derive(Clone, Debug)]
pub enum Selection {
    /// So many from this one on, counted from 1.
    From {
        /// The first.
        first: u64,
        /// How many at most.
        limit: u64,
    },
    /// So many at the end.
    Last(u64),
    /// No lines but so many bytes from this one on, counted from 1.
    Bytes {
        /// The first.
        first: u64,
        /// How many at most.
        limit: u64,
    },
    /// Those that match, from this match on, counted from 1.
    Matching {
        /// What they match.
        pattern: Regex,
        /// The first match to show.
        first: u64,
        /// How many at most.
        limit: u64,
    },
}

/// Some lines of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The lines, in order.
    pub lines: Vec<Line>,
    /// The bytes, where those were asked for.
    pub raw: Option<Vec<u8>>,
    /// How many lines the record has; not counted where bytes were asked for.
    pub total: u64,
    /// How many of them match, when that was asked.
    pub matches: Option<u64>,
    /// What to ask for as the first line, match or byte, to see what comes next.
    pub next: Option<u64>,
    /// How many bytes the record has.
    pub bytes: u64,
    /// How many bytes were printed after those and are gone.
    pub missing: u64,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: u64,
    /// Its bytes without the newline, or the beginning of them.
    pub bytes: Vec<u8>,
    /// How many more bytes it has.
    pub cut: u64,
}

/// Reads some lines. The whole record is read once or twice, and little more than what is shown is ever in memory.
pub fn page(record: Record, selection: &Selection) -> io::Result<Page> {
    match selection {
        Selection::From { first, limit } => page_from(record, *first, *limit),
        Selection::Last(limit) => {
            let total = lines::count(record.clone())?;
            page_last(record, total, *limit)
        }
        Selection::Matching { pattern, first, limit } => page_matching(record, pattern, *first, *limit),
        Selection::Bytes { first, limit } => page_bytes(record, *first, *limit),
    }
}

fn page_from(record: Record, first: u64, limit: u64) -> io::Result<Page> {
    let mut page = Page::of(&record);
    let mut room = PAGE;
    let mut lines = Lines::of(record, LONGEST_SHOWN);
    while let Some((bytes, length)) = lines.next()? {
        page.total += 1;
        let number = page.total;
        if number < first || page.next.is_some() {
            continue;
        }
        if page.lines.len() as u64 == limit || !page.show(number, bytes, length, &mut room) {
            page.next = Some(number);
        }
    }
    Ok(page)
}

/// The last lines that fit; what does not fit is missing from the front.
fn page_last(record: Record, total: u64, limit: u64) -> io::Result<Page> {
    let mut page = Page { total, ..Page::of(&record) };
    let mut kept = std::collections::VecDeque::new();
    let (mut number, mut size) = (0, 0);
    let mut lines = Lines::of(record, LONGEST_SHOWN);
    while let Some((bytes, length)) = lines.next()? {
        number += 1;
        if number + limit <= total {
            continue;
        }
        size += bytes.len();
        kept.push_back(Line { number, bytes: bytes.to_vec(), cut: length - bytes.len() as u64 });
        while size > PAGE && kept.len() > 1 {
            size -= kept.pop_front().map_or(0, |line| line.bytes.len());
        }
    }
    page.lines = kept.into();
    Ok(page)
}

fn page_matching(record: Record, pattern: &Regex, first: u64, limit: u64) -> io::Result<Page> {
    let mut page = Page::of(&record);
    let (mut room, mut matches) = (PAGE, 0);
    let mut lines = Lines::of(record, LONGEST_SEARCHED);
    while let Some((bytes, length)) = lines.next()? {
        page.total += 1;
        if !pattern.is_match(bytes) {
            continue;
        }
        matches += 1;
        if matches < first || page.next.is_some() {
            continue;
        }
        let shown = bytes.get(..LONGEST_SHOWN).unwrap_or(bytes);
        if page.lines.len() as u64 == limit || !page.show(page.total, shown, length, &mut room) {
            page.next = Some(matches);
        }
    }
    page.matches = Some(matches);
    Ok(page)
}

fn page_bytes(record: Record, first: u64, limit: u64) -> io::Result<Page> {
    let mut page = Page::of(&record);
    let start = first.saturating_sub(1);
    let mut raw = Vec::new();
    record.from(start).take(limit.min(PAGE as u64)).read_to_end(&mut raw)?;
    let end = start + raw.len() as u64;
    page.next = (!raw.is_empty() && end < page.bytes).then_some(end + 1);
    page.raw = Some(raw);
    Ok(page)
}

impl Page {
    fn of(record: &Record) -> Self {
        Page { bytes: record.length(), missing: record.missing(), ..Page::default() }
    }

    /// Whether there was room for a line.
    fn show(&mut self, number: u64, bytes: &[u8], length: u64, room: &mut usize) -> bool {
        if !self.lines.is_empty() && *room < bytes.len() {
            return false;
        }
        *room = room.saturating_sub(bytes.len() + 1);
        self.lines.push(Line { number, bytes: bytes.to_vec(), cut: length - bytes.len() as u64 });
        true
    }
}
