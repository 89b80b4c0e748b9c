//! Outputs as a model reads them: cleaned, cut to a budget, or named as binary.

use memchr::memchr;
use runward_model::Captured;

use crate::clean::clean;

/// One output, cleaned, before it is cut.
#[derive(Debug)]
struct Output {
    head: String,
    missing: u64,
    tail: String,
    /// How many bytes it has, when they are no text.
    binary: Option<u64>,
    /// Whether bytes that are no UTF-8 were replaced.
    is_lossy: bool,
}

/// One output as a reply shows it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// How much of the output is not in the text.
    pub(crate) truncated: u64,
}

impl Output {
    fn of(captured: &Captured) -> Self {
        let Captured { head, missing, tail } = captured;
        if is_binary(head, tail) {
            let bytes = (head.len() + tail.len()) as u64 + missing;
            let unit = if bytes == 1 { "byte" } else { "bytes" };
            let head = format!("[binary output: {bytes} {unit}]");
            return Output { head, missing: 0, tail: String::new(), binary: Some(bytes), is_lossy: false };
        }
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        let is_lossy = *missing == 0 && matches!(head, std::borrow::Cow::Owned(_));
        Output { head: clean(&head), missing: *missing, tail: clean(&tail), binary: None, is_lossy }
    }

    /// How much there is to show.
    fn size(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// The beginning and the end, as much as the budget allows.
    fn cut(&self, budget: usize) -> Shown {
        let whole = self.size() <= budget;
        let (head, tail) = if whole { (&*self.head, &*self.tail) } else { self.ends(budget) };
        let truncated = self.missing + (self.size() - head.len() - tail.len()) as u64;
        if truncated == 0 {
            return Shown { text: [head, tail].concat(), truncated };
        }
        let newline = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        Shown { text: format!("{head}{newline}... {truncated} bytes missing ...\n{tail}"), truncated }
    }

    /// Half of the budget for each end, and what one does not need for the other.
    fn ends(&self, budget: usize) -> (&str, &str) {
        let half = budget / 2;
        if self.missing == 0 {
            let head = beginning(&self.head, half);
            let rest = self.head.get(head.len()..).unwrap_or_default();
            return (head, end(rest, budget - half));
        }
        let for_head = half.max(budget.saturating_sub(self.tail.len()));
        let head = beginning(&self.head, for_head);
        (head, end(&self.tail, budget - for_head.min(self.head.len())))
    }
}

/// Both outputs, cleaned, before they are cut.
#[derive(Debug)]
pub(crate) struct Both {
    stdout: Output,
    stderr: Output,
}

impl Both {
    pub(crate) fn of(stdout: &Captured, stderr: &Captured) -> Self {
        Both { stdout: Output::of(stdout), stderr: Output::of(stderr) }
    }

    /// Both within a budget, which they share.
    pub(crate) fn within(&self, budget: usize) -> Outputs {
        let Both { stdout, stderr } = self;
        let (for_stdout, for_stderr) = share(budget, stdout.size(), stderr.size());
        Outputs {
            binary: [stdout.binary, stderr.binary],
            lossy: [stdout.is_lossy, stderr.is_lossy],
            stdout: stdout.cut(for_stdout),
            stderr: stderr.cut(for_stderr),
        }
    }
}

/// Both outputs as a reply shows them.
#[derive(Debug)]
pub(crate) struct Outputs {
    pub(crate) stdout: Shown,
    pub(crate) stderr: Shown,
    /// How many bytes each has, where these are no text.
    pub(crate) binary: [Option<u64>; 2],
    /// Whether bytes of each that are no UTF-8 were replaced.
    pub(crate) lossy: [bool; 2],
}

impl Outputs {
    /// How many bytes of them are not shown.
    pub(crate) fn truncated(&self) -> u64 {
        self.stdout.truncated + self.stderr.truncated
    }

    /// For a model: the one that says something, or both under their names.
    pub(crate) fn text(&self) -> String {
        match (self.stdout.text.as_str(), self.stderr.text.as_str()) {
            ("", "") => "(no output)".to_owned(),
            (stdout, "") => stdout.to_owned(),
            ("", stderr) => format!("stderr:\n{stderr}"),
            (stdout, stderr) => {
                let newline = if stdout.ends_with('\n') { "" } else { "\n" };
                format!("stdout:\n{stdout}{newline}stderr:\n{stderr}")
            }
        }
    }
}

/// How much of a budget each of two outputs gets: all that it needs, unless both need more than half.
pub(crate) fn share(budget: usize, first: usize, second: usize) -> (usize, usize) {
    let half = budget / 2;
    let (first, second) = (first.min(budget - second.min(half)), second.min(budget - first.min(half)));
    (first, second.min(budget - first))
}

/// A byte that no text has, or too many that are no UTF-8.
fn is_binary(head: &[u8], tail: &[u8]) -> bool {
    let parts = [head, tail];
    if parts.iter().any(|part| memchr(0, part).is_some()) {
        return true;
    }
    let invalid = |part: &&[u8]| part.utf8_chunks().map(|chunk| chunk.invalid().len()).sum::<usize>();
    parts.iter().map(invalid).sum::<usize>() * 3 > head.len() + tail.len()
}

/// At most this much of the beginning, up to the end of a line where one is near.
fn beginning(text: &str, most: usize) -> &str {
    let kept = text.get(..text.floor_char_boundary(most)).unwrap_or(text);
    let lines = kept.rfind('\n').map_or(0, |at| at + 1);
    if lines > 0 && lines >= most / 4 * 3 { kept.get(..lines).unwrap_or(kept) } else { kept }
}

/// At most this much of the end, from the beginning of a line where one is near.
fn end(text: &str, most: usize) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(most));
    let kept = text.get(from..).unwrap_or(text);
    let lines = if from == 0 { 0 } else { kept.find('\n').map_or(0, |at| at + 1) };
    if lines <= most / 4 { kept.get(lines..).unwrap_or(kept) } else { kept }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(bytes: &[u8]) -> Output {
        Output::of(&Captured { head: bytes.to_vec(), missing: 0, tail: Vec::new() })
    }

    #[test]
    fn what_fits_is_shown_whole() {
        let shown = whole(b"one\ntwo\n").cut(8);
        assert_eq!(shown, Shown { text: "one\ntwo\n".into(), truncated: 0 });
    }

    #[test]
    fn what_does_not_fit_keeps_whole_lines_of_both_ends() {
        let lines: Vec<_> = (0..100).map(|number| format!("line {number}\n")).collect();
        let shown = whole(lines.concat().as_bytes()).cut(60);
        assert_eq!(
            shown.text,
            "line 0\nline 1\nline 2\nline 3\n... 738 bytes missing ...\nline 97\nline 98\nline 99\n"
        );
        assert_eq!(shown.truncated, 738);
    }

    #[test]
    fn what_was_missing_before_counts_too() {
        let captured = Captured { head: b"begin\n".to_vec(), missing: 1000, tail: b"end\n".to_vec() };
        let shown = Output::of(&captured).cut(100);
        assert_eq!(shown.text, "begin\n... 1000 bytes missing ...\nend\n");
        let shown = Output::of(&captured).cut(4);
        assert_eq!(shown.truncated, 1006);
    }

    #[test]
    fn binary_output_is_named_with_its_size() {
        for (bytes, text) in [
            (&b"\x7fELF\0\0"[..], "[binary output: 6 bytes]"),
            (&[0], "[binary output: 1 byte]"),
            (&[0xFF, 0xFE, 0xFD, b'a'], "[binary output: 4 bytes]"),
        ] {
            let output = whole(bytes);
            assert_eq!((output.cut(100).text.as_str(), output.binary), (text, Some(bytes.len() as u64)));
        }
        let latin = whole(b"caf\xe9 au lait");
        assert_eq!(
            (latin.binary, latin.is_lossy, latin.cut(100).text.as_str()),
            (None, true, "caf\u{FFFD} au lait")
        );
        assert_eq!((whole(b"").binary, whole(b"fine").is_lossy), (None, false));
    }

    #[test]
    fn a_small_output_leaves_its_share_to_the_other() {
        assert_eq!(share(100, 30, 40), (30, 40));
        assert_eq!(share(100, 500, 10), (90, 10));
        assert_eq!(share(100, 10, 500), (10, 90));
        assert_eq!(share(100, 500, 500), (50, 50));
    }

    proptest! {
        #[test]
        fn a_cut_keeps_to_its_budget_and_counts_what_it_leaves_out(
            head in "[a-zé\n]{0,200}", missing in 0u64..3, tail in "[a-zé\n]{0,200}", budget in 0usize..300,
        ) {
            let tail = if missing == 0 { String::new() } else { tail };
            let captured = Captured { head: head.clone().into(), missing, tail: tail.clone().into() };
            let shown = Output::of(&captured).cut(budget);
            let gap = format!("... {} bytes missing ...\n", shown.truncated);
            let kept = if shown.truncated == 0 { shown.text.len() } else { shown.text.len() - gap.len() };
            // A gap begins on a line of its own.
            prop_assert!(kept <= budget + 1);
            let all = (head.len() + tail.len()) as u64 + missing;
            prop_assert!(shown.truncated.abs_diff(all - kept as u64) <= 1);
        }

        #[test]
        fn shares_are_within_the_budget(budget in 0usize..1000, first in 0usize..2000, second in 0usize..2000) {
            let (one, other) = share(budget, first, second);
            prop_assert!(one + other <= budget && one <= first && other <= second);
            prop_assert!(one + other == budget.min(first + second));
        }
    }
}
