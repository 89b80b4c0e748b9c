//! An output as text: head, a line for what is missing, tail, with U+FFFD for what is no UTF-8.

use memchr::{memchr, memrchr};
use runward_model::Captured;

const REPLACEMENT: &str = "\u{FFFD}";

/// An output as text, without a copy of it.
#[derive(Debug)]
pub(super) struct Text<'a> {
    head: &'a [u8],
    gap: String,
    tail: &'a [u8],
    missing: u64,
}

impl<'a> Text<'a> {
    /// What is kept of an output. Characters that the cut has torn apart count as missing.
    pub(super) fn of(captured: &'a Captured) -> Self {
        if captured.missing == 0 {
            return Text { head: &captured.head, gap: String::new(), tail: &captured.tail, missing: 0 };
        }
        Text::of_ends(&captured.head, captured.missing, &captured.tail)
    }

    /// Both ends of an output that is not all there.
    fn of_ends(all_head: &'a [u8], missing: u64, all_tail: &'a [u8]) -> Self {
        let (head, tail) = (whole_start(all_head), whole_end(all_tail));
        let torn = (all_head.len() - head.len()) + (all_tail.len() - tail.len());
        let missing = missing.saturating_add(torn as u64);
        let newline = if head.is_empty() || head.ends_with(b"\n") { "" } else { "\n" };
        Text { head, gap: format!("{newline}... {missing} bytes missing ...\n"), tail, missing }
    }

    /// What is kept of an output, both ends of it where that is more than `most` bytes.
    pub(super) fn within(captured: &'a Captured, most: usize) -> Self {
        let Captured { head, missing, tail } = captured;
        let kept = head.len() + tail.len();
        if kept <= most {
            return Text::of(captured);
        }
        let half = most / 2;
        let (head, tail) = if tail.is_empty() {
            let first = beginning(head, half);
            (first, end(head.get(first.len()..).unwrap_or_default(), most - half))
        } else {
            let for_head = half.max(most.saturating_sub(tail.len()));
            (beginning(head, for_head), end(tail, most - for_head.min(head.len())))
        };
        Text::of_ends(head, missing + (kept - head.len() - tail.len()) as u64, tail)
    }

    /// How many bytes are missing in the middle.
    pub(super) const fn missing(&self) -> u64 {
        self.missing
    }

    /// Whether something in it was no UTF-8.
    pub(super) fn is_lossy(&self) -> bool {
        [self.head, self.tail].iter().any(|part| std::str::from_utf8(part).is_err())
    }

    /// The text in pieces, in order.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &str> {
        lossy(self.head).chain(std::iter::once(self.gap.as_str())).chain(lossy(self.tail))
    }
}

fn lossy(bytes: &[u8]) -> impl Iterator<Item = &str> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let replaced = if chunk.invalid().is_empty() { "" } else { REPLACEMENT };
        [chunk.valid(), replaced]
    })
}

/// At most this much of the beginning, up to the end of a line where one is near.
fn beginning(bytes: &[u8], most: usize) -> &[u8] {
    let kept = bytes.get(..most).unwrap_or(bytes);
    let lines = memrchr(b'\n', kept).map_or(0, |at| at + 1);
    if lines > 0 && lines >= most / 4 * 3 { kept.get(..lines).unwrap_or(kept) } else { kept }
}

/// At most this much of the end, from the beginning of a line where one is near.
fn end(bytes: &[u8], most: usize) -> &[u8] {
    let from = bytes.len().saturating_sub(most);
    let kept = bytes.get(from..).unwrap_or(bytes);
    let lines = if from == 0 { 0 } else { memchr(b'\n', kept).map_or(0, |at| at + 1) };
    if lines <= most / 4 { kept.get(lines..).unwrap_or(kept) } else { kept }
}

/// Without the beginning of a character whose end is cut off.
fn whole_start(head: &[u8]) -> &[u8] {
    let continued = head.iter().rev().take(3).take_while(|byte| is_continuation(**byte)).count();
    let lead = head.len().checked_sub(continued + 1).and_then(|at| head.get(at)).copied().unwrap_or(0);
    let length = match lead {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 0,
    };
    let torn = if length > continued + 1 { continued + 1 } else { 0 };
    head.get(..head.len() - torn).unwrap_or(head)
}

/// Without the end of a character whose beginning is cut off.
fn whole_end(tail: &[u8]) -> &[u8] {
    let torn = tail.iter().take(3).take_while(|byte| is_continuation(**byte)).count();
    tail.get(torn..).unwrap_or(tail)
}

const fn is_continuation(byte: u8) -> bool {
    matches!(byte, 0x80..=0xBF)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(head: &[u8], missing: u64, tail: &[u8]) -> (String, bool) {
        let captured = Captured { head: head.to_vec(), missing, tail: tail.to_vec() };
        let text = Text::of(&captured);
        (text.pieces().collect(), text.is_lossy())
    }

    #[test]
    fn a_gap_has_a_line_of_its_own() {
        assert_eq!(shown(b"ab", 5, b"yz").0, "ab\n... 5 bytes missing ...\nyz");
        assert_eq!(shown(b"ab\n", 5, b"yz").0, "ab\n... 5 bytes missing ...\nyz");
        assert_eq!(shown(b"", 5, b"").0, "... 5 bytes missing ...\n");
    }

    #[test]
    fn a_character_torn_by_the_cut_counts_as_missing() {
        let euro = "€".as_bytes();
        let (text, lossy) = shown(&[b"a", &euro[..2]].concat(), 10, &[&euro[1..], b"z"].concat());
        assert_eq!((text.as_str(), lossy), ("a\n... 14 bytes missing ...\nz", false));
        let (text, lossy) = shown("a€".as_bytes(), 10, "€z".as_bytes());
        assert_eq!((text.as_str(), lossy), ("a€\n... 10 bytes missing ...\n€z", false));
    }

    #[test]
    fn without_a_gap_a_torn_character_is_replaced() {
        assert_eq!(shown(b"a\xE2\x82", 0, b""), ("a\u{FFFD}".into(), true));
        assert_eq!(shown(b"\xFF\xFFb", 0, b""), ("\u{FFFD}\u{FFFD}b".into(), true));
    }
}
