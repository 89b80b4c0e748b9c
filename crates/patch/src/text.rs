//! A file as lines, without a copy of any of them.

/// What begins some text files and is no part of their first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A file as lines. Lines end with `\n` or `\r\n`; in a file without any `\n`, with `\r`.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    bytes: &'a [u8],
    /// Where each line begins, and where the last one ends. Offsets are small, since files are bounded.
    edges: Vec<u32>,
    separator: u8,
}

impl<'a> Text<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let separator = if bytes.contains(&b'\n') { b'\n' } else { b'\r' };
        let begin = Text::mark(bytes).len();
        let mut edges = vec![offset(begin)];
        let found = bytes.iter().enumerate().skip(begin).filter(|(_, byte)| **byte == separator);
        edges.extend(found.map(|(at, _)| offset(at + 1)));
        if edges.last() != Some(&offset(bytes.len())) {
            edges.push(offset(bytes.len()));
        }
        Text { bytes, edges, separator }
    }

    /// What stands before the first line.
    pub(crate) fn mark(bytes: &'a [u8]) -> &'a [u8] {
        if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK } else { &[] }
    }

    /// How many lines there are.
    pub(crate) fn len(&self) -> usize {
        self.edges.len() - 1
    }

    /// A line without its ending; nothing beyond the last one.
    pub(crate) fn line(&self, index: usize) -> &'a [u8] {
        self.parts(index).0
    }

    /// What ends a line; nothing for a last line that has no ending.
    pub(crate) fn ending(&self, index: usize) -> &'a [u8] {
        self.parts(index).1
    }

    fn parts(&self, index: usize) -> (&'a [u8], &'a [u8]) {
        let edge = |index: usize| self.edges.get(index).map_or(self.bytes.len(), |edge| *edge as usize);
        let whole = self.bytes.get(edge(index)..edge(index + 1)).unwrap_or_default();
        let length = match whole.split_last() {
            Some((last, before)) if *last == self.separator => {
                before.len() - usize::from(*last == b'\n' && before.ends_with(b"\r"))
            }
            _ => whole.len(),
        };
        whole.split_at(length)
    }
}

/// Files are far smaller than 4 GiB: see `verify::LARGEST_FILE`.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(bytes: &[u8]) -> Vec<(&[u8], &[u8])> {
        let text = Text::new(bytes);
        (0..text.len()).map(|index| (text.line(index), text.ending(index))).collect()
    }

    #[test]
    fn each_line_keeps_its_own_ending() {
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\n"), [(&b""[..], &b"\n"[..])]);
        assert_eq!(
            lines(b"a\r\nb\r\r\n\nc\rd"),
            [(&b"a"[..], &b"\r\n"[..]), (b"b\r", b"\r\n"), (b"", b"\n"), (b"c\rd", b"")]
        );
        assert_eq!(lines(b"a\rb\r"), [(&b"a"[..], &b"\r"[..]), (b"b", b"\r")]);
        assert_eq!(lines(b"\xEF\xBB\xBFa\n"), [(&b"a"[..], &b"\n"[..])]);
    }

    proptest! {
        #[test]
        fn lines_and_endings_together_are_the_file(bytes in proptest::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), any::<u8>()], 0..60,
        )) {
            let mut whole = Text::mark(&bytes).to_vec();
            for (line, ending) in lines(&bytes) {
                whole.extend_from_slice(line);
                whole.extend_from_slice(ending);
            }
            prop_assert_eq!(whole, bytes);
        }
    }
}
