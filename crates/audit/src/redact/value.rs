//! Secrets by value, in bytes that may come in any pieces.

use std::borrow::Cow;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::MARK;

/// Values shorter than this are not looked for: they would be found everywhere.
pub const SHORTEST: usize = 6;

/// Values that must not be shown. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// Sorted, so that what begins with the end of a piece stands together.
    values: Arc<[Vec<u8>]>,
    /// `None` when there is nothing to look for.
    finder: Option<AhoCorasick>,
}

impl Secrets {
    /// These values, without white space around them; those shorter than [`SHORTEST`] are left out. Fails when they
    /// are gigabytes.
    pub fn new<V: AsRef<[u8]>>(
        values: impl IntoIterator<Item = V>,
    ) -> Result<Self, aho_corasick::BuildError> {
        let trimmed = values.into_iter().map(|value| value.as_ref().trim_ascii().to_vec());
        let mut values: Vec<Vec<u8>> = trimmed.filter(|value| value.len() >= SHORTEST).collect();
        values.sort_unstable();
        values.dedup();
        let finder = if values.is_empty() { None } else { Some(finder(&values)?) };
        Ok(Secrets { values: values.into(), finder })
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All of `bytes`, with [`MARK`] for every secret: of those that overlap the first, and of those that start
    /// together the longest.
    pub fn redact<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match &self.finder {
            Some(finder) if finder.is_match(bytes) => {
                let mut redactor = Redactor::new(self.clone());
                let mut clean = redactor.push(bytes);
                clean.extend(redactor.finish());
                Cow::Owned(clean)
            }
            _ => Cow::Borrowed(bytes),
        }
    }

    /// The same for text.
    pub fn redact_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.redact(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
        }
    }

    /// Whether `end` could go on to be a secret.
    fn may_begin_with(&self, end: &[u8]) -> bool {
        // The first value that is greater than `end` begins with it if any longer value does.
        let after = self.values.partition_point(|value| value.as_slice() <= end);
        self.values.get(after).is_some_and(|value| value.starts_with(end))
    }

    fn longest(&self) -> usize {
        self.values.iter().map(Vec::len).max().unwrap_or(0)
    }
}

/// A compact automaton: the largest kind would take megabytes for a secret of a few kilobytes.
fn finder(values: &[Vec<u8>]) -> Result<AhoCorasick, aho_corasick::BuildError> {
    let kind = Some(AhoCorasickKind::ContiguousNFA);
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).kind(kind).build(values)
}

/// Takes secrets out of a stream. However the stream is cut into pieces, the result is that of [`Secrets::redact`]
/// on the whole. Only an end that may be the beginning of a secret is held back until more is known.
#[derive(Debug)]
pub struct Redactor {
    secrets: Secrets,
    longest: usize,
    held: Vec<u8>,
}

impl Redactor {
    /// For one stream.
    pub fn new(secrets: Secrets) -> Self {
        let longest = secrets.longest();
        Redactor { secrets, longest, held: Vec::new() }
    }

    /// Takes the next piece and gives what is certain by now.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let Some(finder) = self.secrets.finder.clone() else { return piece.to_vec() };
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(piece);
        let undecided = self.undecided(&bytes);
        let mut clean = Vec::with_capacity(bytes.len());
        let mut from = 0;
        loop {
            let rest = bytes.get(from..).unwrap_or_default();
            let found = finder.find(rest).map(|found| (from + found.start(), from + found.end()));
            let hold = undecided.iter().copied().find(|at| *at >= from).unwrap_or(bytes.len());
            match found {
                Some((start, end)) if start < hold => {
                    clean.extend_from_slice(bytes.get(from..start).unwrap_or_default());
                    clean.extend_from_slice(MARK.as_bytes());
                    from = end;
                }
                _ => {
                    clean.extend_from_slice(bytes.get(from..hold).unwrap_or_default());
                    self.held = bytes.split_off(hold);
                    return clean;
                }
            }
        }
    }

    /// The stream is over: gives what was held back.
    pub fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let Some(finder) = &self.secrets.finder else { return held };
        let marks = vec![MARK; self.secrets.values.len()];
        finder.replace_all_bytes(&held, &marks)
    }

    /// Every place from which the bytes up to the end could go on to be a secret.
    fn undecided(&self, bytes: &[u8]) -> Vec<usize> {
        let first = bytes.len().saturating_sub(self.longest.saturating_sub(1));
        let ends = (first..bytes.len()).filter_map(|at| Some((at, bytes.get(at..)?)));
        ends.filter(|(_, end)| self.secrets.may_begin_with(end)).map(|(at, _)| at).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The definition, the slow way.
    fn naive(values: &[Vec<u8>], bytes: &[u8]) -> Vec<u8> {
        let mut clean = Vec::new();
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            let found = values.iter().filter(|value| rest.starts_with(value)).map(Vec::len).max();
            match found {
                Some(_) => clean.extend_from_slice(MARK.as_bytes()),
                None => clean.push(*first),
            }
            rest = &rest[found.unwrap_or(1)..];
        }
        clean
    }

    fn in_pieces(secrets: &Secrets, pieces: &[&[u8]]) -> Vec<u8> {
        let mut redactor = Redactor::new(secrets.clone());
        let mut clean: Vec<u8> = Vec::new();
        for piece in pieces {
            clean.extend(redactor.push(piece));
            assert!(redactor.held.len() < redactor.longest.max(1));
        }
        clean.extend(redactor.finish());
        clean
    }

    #[test]
    fn a_secret_cut_in_two_is_found() {
        let secrets = Secrets::new(["hunter2hunter2"]).unwrap();
        assert_eq!(in_pieces(&secrets, &[b"a hunter2", b"hunter2 b"]), b"a [redacted] b");
    }

    #[test]
    fn output_that_cannot_be_a_secret_is_not_held_back() {
        let mut redactor = Redactor::new(Secrets::new(["correct horse battery staple"]).unwrap());
        assert_eq!(redactor.push(b"password: "), b"password: ");
        assert_eq!(redactor.push(b"is it corr"), b"is it ");
        assert_eq!(redactor.push(b"upt?"), b"corrupt?");
        assert_eq!(redactor.finish(), b"");
    }

    #[test]
    fn short_values_and_white_space_around_values_are_not_looked_for() {
        let secrets = Secrets::new(["1", "true", "  swordfish\n"]).unwrap();
        assert_eq!(secrets.redact(b"1 true swordfish"), b"1 true [redacted]".as_slice());
        assert!(Secrets::new(["12345"]).unwrap().is_empty());
    }

    #[test]
    fn text_without_secrets_is_not_copied() {
        let secrets = Secrets::new(["swordfish"]).unwrap();
        assert!(matches!(secrets.redact_text("plain"), Cow::Borrowed("plain")));
        assert_eq!(secrets.redact_text("a swordfish é"), "a [redacted] é");
    }

    proptest! {
        /// Two letters make overlaps, prefixes and repetitions likely.
        #[test]
        fn any_pieces_give_the_result_of_the_whole(
            values in vec(vec(prop_oneof![Just(b'a'), Just(b'b')], 6..10), 0..5),
            bytes in vec(prop_oneof![4 => Just(b'a'), 4 => Just(b'b'), 1 => Just(b'\n')], 0..80),
            cuts in vec(0..80_usize, 0..8),
        ) {
            let secrets = Secrets::new(&values).unwrap();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let expected = naive(&values, &bytes);
            prop_assert_eq!(&in_pieces(&secrets, &pieces), &expected);
            prop_assert_eq!(secrets.redact(&bytes).into_owned(), expected);
        }
    }
}
