//! One output's share of the log.

use std::collections::VecDeque;

use runward_model::{Captured, Stream};

use super::Piece;

/// Small prints are gathered into chunks of up to this size, so that a byte costs a byte.
const CHUNK: usize = 64 * 1024;

/// So much of what goes past is remembered, for whoever asks what a command said last.
const LAST: usize = 4 * 1024;

/// The beginning and the end of one output.
#[derive(Debug)]
pub(super) struct Lane {
    /// How many bytes the head and the tail may each hold.
    half: usize,
    head: Vec<Chunk>,
    head_bytes: usize,
    tail: VecDeque<Chunk>,
    tail_bytes: usize,
    /// Bytes that have left the tail.
    dropped: u64,
    /// Bytes that went past it to a reader that gets them all.
    passed: u64,
    /// The last of those.
    last: VecDeque<u8>,
}

#[derive(Debug)]
struct Chunk {
    at: u64,
    data: Vec<u8>,
}

impl Chunk {
    /// Whether bytes at `at` continue this chunk and fit into it.
    fn takes(&self, at: u64, length: usize) -> bool {
        self.at + self.data.len() as u64 == at && self.data.len() + length <= CHUNK
    }

    /// The part from `position` on.
    fn from(&self, position: u64) -> Option<(u64, &[u8])> {
        let skipped = usize::try_from(position.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let rest = self.data.get(skipped..).filter(|rest| !rest.is_empty())?;
        Some((self.at.max(position), rest))
    }
}

impl Lane {
    pub(super) fn new(limit: usize) -> Self {
        let (head, tail) = (Vec::new(), VecDeque::new());
        let last = VecDeque::new();
        Lane { half: limit / 2, head, head_bytes: 0, tail, tail_bytes: 0, dropped: 0, passed: 0, last }
    }

    /// How many bytes it may hold.
    pub(super) fn limit(&self) -> usize {
        2 * self.half
    }

    /// How many bytes it holds.
    pub(super) fn memory(&self) -> usize {
        self.head_bytes + self.tail_bytes
    }

    /// Whether it will still hold everything after so many more bytes.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.dropped == 0 && self.memory() + bytes <= self.limit()
    }

    /// What it holds, in order.
    pub(super) fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        self.head.iter().chain(&self.tail).map(|chunk| chunk.data.as_slice())
    }

    /// Leaves bytes to a reader that gets them all.
    pub(super) fn pass(&mut self, bytes: &[u8]) {
        self.passed += bytes.len() as u64;
        let end = bytes.get(bytes.len().saturating_sub(LAST)..).unwrap_or_default();
        let surplus = (self.last.len() + end.len()).saturating_sub(LAST);
        self.last.drain(..surplus);
        self.last.extend(end);
    }

    /// Its last bytes, as many as there are.
    pub(super) fn last(&self, most: usize) -> Vec<u8> {
        let mut parts: Vec<&[u8]> = self.chunks().collect();
        let (passed, wrapped) = self.last.as_slices();
        parts.extend([passed, wrapped]);
        let mut start = parts.iter().map(|part| part.len()).sum::<usize>().saturating_sub(most);
        let mut last = Vec::new();
        for part in parts {
            last.extend_from_slice(part.get(start.min(part.len())..).unwrap_or_default());
            start = start.saturating_sub(part.len());
        }
        last
    }

    /// How many bytes went past it.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// Lets go of everything.
    pub(super) fn clear(&mut self) {
        self.dropped += self.memory() as u64;
        (self.head, self.head_bytes) = (Vec::new(), 0);
        (self.tail, self.tail_bytes) = (VecDeque::new(), 0);
    }

    pub(super) fn append(&mut self, at: u64, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(self.half - self.head_bytes));
        if !first.is_empty() {
            self.head_bytes += first.len();
            match self.head.last_mut() {
                Some(last) if last.takes(at, first.len()) => last.data.extend_from_slice(first),
                _ => self.head.push(Chunk { at, data: first.to_vec() }),
            }
        }
        if !rest.is_empty() {
            self.append_to_tail(at + first.len() as u64, rest);
        }
    }

    fn append_to_tail(&mut self, at: u64, bytes: &[u8]) {
        self.tail_bytes += bytes.len();
        match self.tail.back_mut() {
            Some(last) if last.takes(at, bytes.len()) => last.data.extend_from_slice(bytes),
            _ => {
                let mut data = self.drop_oldest().unwrap_or_default();
                data.clear();
                data.extend_from_slice(bytes);
                self.tail.push_back(Chunk { at, data });
            }
        }
        while self.drop_oldest().is_some() {}
    }

    /// Drops the oldest chunk of the tail if the others are enough; its memory can be used again.
    fn drop_oldest(&mut self) -> Option<Vec<u8>> {
        let oldest = self.tail.front()?.data.len();
        if self.tail_bytes - oldest < self.half || self.tail.len() == 1 {
            return None;
        }
        self.tail_bytes -= oldest;
        self.dropped += oldest as u64;
        self.tail.pop_front().map(|chunk| chunk.data)
    }

    pub(super) fn read_from(&self, position: u64, stream: Stream) -> Vec<(u64, Piece)> {
        let bytes = |chunk: &Chunk| {
            chunk.from(position).map(|(at, data)| (at, Piece::Bytes { at, stream, data: data.to_vec() }))
        };
        let mut pieces: Vec<_> = self.head.iter().filter_map(bytes).collect();
        if let Some(oldest) = self.tail.front()
            && self.dropped > 0
            && position < oldest.at
        {
            // The gap lies before the first kept byte of the tail, wherever its own bytes were.
            pieces.push((oldest.at.saturating_sub(1), Piece::Gap { stream, bytes: self.dropped }));
        }
        pieces.extend(self.tail.iter().filter_map(bytes));
        pieces
    }

    /// The last `unread` bytes, which came from `position` on, as far as they are kept.
    pub(super) fn unread(&self, position: u64, unread: u64, stream: Stream) -> Vec<(u64, Piece)> {
        let mut pieces = self.read_from(position, stream);
        let kept: usize = pieces.iter().map(|(_, piece)| piece.length()).sum();
        let bytes = unread.saturating_sub(kept as u64);
        let place = pieces.iter().position(|(_, piece)| piece.is_gap());
        match place.and_then(|place| pieces.get_mut(place)) {
            Some((_, gap)) if bytes > 0 => *gap = Piece::Gap { stream, bytes },
            Some(_) => pieces.retain(|(_, piece)| !piece.is_gap()),
            None if bytes > 0 => pieces.insert(0, (position, Piece::Gap { stream, bytes })),
            None => {}
        }
        pieces
    }

    /// How many bytes were printed, and how many of them [`Lane::captured`] leaves out.
    pub(super) fn size(&self) -> (u64, u64) {
        let missing = self.dropped + self.tail_bytes.saturating_sub(self.half) as u64;
        (self.passed + self.dropped + (self.head_bytes + self.tail_bytes) as u64, missing)
    }

    pub(super) fn captured(&self) -> Captured {
        let head = self.head.iter().flat_map(|chunk| &chunk.data);
        let tail = self.tail.iter().flat_map(|chunk| &chunk.data);
        if self.dropped == 0 && self.tail_bytes <= self.half {
            return Captured { head: head.chain(tail).copied().collect(), missing: 0, tail: Vec::new() };
        }
        let surplus = self.tail_bytes.saturating_sub(self.half);
        let missing = self.dropped + surplus as u64;
        Captured { head: head.copied().collect(), missing, tail: tail.skip(surplus).copied().collect() }
    }
}
