//! What a session printed since somebody last looked: both ends of it, and how much there was in all.

use std::io::Read as _;

use runward_model::{Outcome, Stream};

use crate::log::{Mark, Piece};
use crate::session::Session;

use super::table::Entry;

/// What a session printed since somebody last looked.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    /// Its beginning, in arrival order; everything when nothing is missing.
    pub head: Vec<Run>,
    /// How many bytes of each output are missing between head and tail.
    pub missing: [u64; 2],
    /// Its end.
    pub tail: Vec<Run>,
    /// How many bytes there were in all.
    pub bytes: u64,
    /// Where to look from the next time.
    pub position: u64,
    /// How the session ended, if it has.
    pub outcome: Option<Outcome>,
}

/// Bytes of one output that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Which output.
    pub stream: Stream,
    /// The bytes.
    pub data: Vec<u8>,
}

/// How many of these bytes can be shown now: without what has only begun at their end, such as a character.
pub(super) type Complete = fn(&[u8]) -> usize;

/// What nobody was given, and the mark after that.
pub(super) async fn read(entry: &Entry, limit: usize, complete: Complete) -> (Chunk, Mark) {
    let (session, mark) = (&entry.session, entry.mark());
    // Asked first: whoever sees the end must also see everything before it.
    let outcome = entry.news();
    let (pieces, mut now) = session.log().since(mark);
    let mut pieces = filled(session, pieces, mark, limit).await;
    if outcome.is_none() {
        now = hold_back(&mut pieces, now, complete);
    }
    let bytes = now.position.saturating_sub(mark.position);
    let chunk = ends(pieces, limit);
    (Chunk { bytes, position: now.position, outcome, ..chunk }, now)
}

/// What came from a position on.
pub(super) fn look(session: &Session, since: u64, limit: usize) -> Chunk {
    let outcome = session.outcome();
    let printed = session.printed();
    let pieces = session.log().read_from(since.min(printed));
    let chunk = ends(pieces, limit);
    Chunk { bytes: printed.saturating_sub(since), position: printed, outcome, ..chunk }
}

/// Where the beginning of a gap belongs to the head, it is read back from disk.
async fn filled(session: &Session, pieces: Vec<Piece>, mark: Mark, limit: usize) -> Vec<Piece> {
    let mut filled = Vec::with_capacity(pieces.len() + 2);
    let mut seen = [Stream::Stdout, Stream::Stderr].map(|stream| mark.of(stream));
    let mut length = 0;
    for piece in pieces {
        let stream = piece.stream();
        let Some(place) = seen.get_mut(stream as usize) else { continue };
        match piece {
            Piece::Gap { bytes, .. } if length < limit / 2 => {
                let wanted = (limit / 2 - length).min(usize::try_from(bytes).unwrap_or(usize::MAX));
                let data = from_disk(session, stream, *place, wanted).await;
                let left = bytes - data.len() as u64;
                length += data.len();
                filled.push(Piece::Bytes { at: 0, stream, data });
                filled.extend((left > 0).then_some(Piece::Gap { stream, bytes: left }));
                *place += bytes;
            }
            Piece::Gap { bytes, .. } => {
                *place += bytes;
                filled.push(piece);
            }
            Piece::Bytes { at, stream, data } => {
                *place += data.len() as u64;
                length += data.len();
                filled.push(Piece::Bytes { at, stream, data });
            }
        }
    }
    filled
}

async fn from_disk(session: &Session, stream: Stream, from: u64, wanted: usize) -> Vec<u8> {
    let Ok(record) = session.log().record(stream) else { return Vec::new() };
    let read = tokio::task::spawn_blocking(move || {
        let mut data = Vec::new();
        let _ = record.from(from).take(wanted as u64).read_to_end(&mut data);
        data
    });
    read.await.unwrap_or_default()
}

/// What has only begun is left for the next time.
fn hold_back(pieces: &mut [Piece], now: Mark, complete: Complete) -> Mark {
    let Some(Piece::Bytes { stream, data, .. }) = pieces.last_mut() else { return now };
    let begun = data.len() - complete(data).min(data.len());
    data.truncate(data.len() - begun);
    now.before(*stream, begun as u64)
}

/// Both ends, half of `limit` each; everything where it is no more than that.
fn ends(pieces: Vec<Piece>, limit: usize) -> Chunk {
    let is_whole = pieces.iter().all(|piece| !piece.is_gap());
    let kept: usize = pieces.iter().map(Piece::length).sum();
    let mut chunk = Chunk::default();
    let (mut room, mut rest) = (if is_whole && kept <= limit { limit } else { limit / 2 }, Vec::new());
    for piece in pieces {
        match piece {
            Piece::Bytes { stream, mut data, at } if rest.is_empty() => {
                let after = data.split_off(room.min(data.len()));
                room -= data.len();
                push(&mut chunk.head, stream, data);
                if !after.is_empty() {
                    rest.push(Piece::Bytes { at, stream, data: after });
                }
            }
            piece => rest.push(piece),
        }
    }
    let (missing, tail) = tail_of(rest, limit - limit / 2);
    Chunk { missing, tail, ..chunk }
}

/// The end of what is left: at most `room` bytes of what comes after the last gap, and how many bytes of each output
/// come before that.
fn tail_of(rest: Vec<Piece>, mut room: usize) -> ([u64; 2], Vec<Run>) {
    let ([mut stdout, mut stderr], mut tail) = ([0, 0], Vec::new());
    for piece in rest.into_iter().rev() {
        let missing = match piece.stream() {
            Stream::Stdout => &mut stdout,
            Stream::Stderr => &mut stderr,
        };
        match piece {
            Piece::Gap { bytes, .. } => {
                *missing += bytes;
                room = 0;
            }
            Piece::Bytes { stream, mut data, .. } => {
                let kept = data.split_off(data.len().saturating_sub(room));
                *missing += data.len() as u64;
                room -= kept.len();
                tail.push(Run { stream, data: kept });
            }
        }
    }
    let mut runs = Vec::new();
    tail.into_iter().rev().for_each(|run: Run| push(&mut runs, run.stream, run.data));
    ([stdout, stderr], runs)
}

fn push(runs: &mut Vec<Run>, stream: Stream, data: Vec<u8>) {
    match runs.last_mut() {
        _ if data.is_empty() => {}
        Some(last) if last.stream == stream => last.data.extend_from_slice(&data),
        _ => runs.push(Run { stream, data }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(stream: Stream, text: &str) -> Piece {
        Piece::Bytes { at: 0, stream, data: text.as_bytes().to_vec() }
    }

    fn text(runs: &[Run]) -> String {
        runs.iter().map(|run| String::from_utf8_lossy(&run.data).into_owned()).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn what_fits_is_all_head() {
        let chunk = ends(vec![bytes(Stream::Stdout, "out"), bytes(Stream::Stderr, "err")], 6);
        assert_eq!((text(&chunk.head).as_str(), chunk.missing, chunk.tail.len()), ("out|err", [0, 0], 0));
    }

    #[test]
    fn what_does_not_fit_is_cut_in_the_middle_and_counted() {
        let chunk = ends(vec![bytes(Stream::Stdout, "0123456789"), bytes(Stream::Stderr, "ab")], 10);
        assert_eq!((text(&chunk.head).as_str(), chunk.missing), ("01234", [2, 0]));
        assert_eq!(text(&chunk.tail), "789|ab");
    }

    #[test]
    fn what_is_missing_is_counted_for_each_output() {
        let gap = Piece::Gap { stream: Stream::Stderr, bytes: 100 };
        let pieces = vec![bytes(Stream::Stdout, "0123456789"), gap, bytes(Stream::Stderr, "abcdefgh")];
        let chunk = ends(pieces, 8);
        assert_eq!((text(&chunk.head).as_str(), text(&chunk.tail).as_str()), ("0123", "efgh"));
        assert_eq!(chunk.missing, [6, 104]);
    }

    #[test]
    fn nothing_from_before_a_gap_is_passed_for_the_end() {
        let gap = Piece::Gap { stream: Stream::Stdout, bytes: 100 };
        let pieces = vec![bytes(Stream::Stdout, "head and more"), gap, bytes(Stream::Stdout, "end")];
        let chunk = ends(pieces, 8);
        assert_eq!((text(&chunk.head).as_str(), text(&chunk.tail).as_str()), ("head", "end"));
        assert_eq!(chunk.missing, [100 + 9, 0]);
    }

    #[test]
    fn no_room_shows_nothing_and_counts_everything() {
        let chunk = ends(vec![bytes(Stream::Stdout, "abc")], 0);
        assert_eq!((chunk.head.len(), chunk.missing, chunk.tail.len()), (0, [3, 0], 0));
    }
}
