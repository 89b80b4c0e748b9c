//! Where the reader stands, and what it has seen.

use super::facts::Fact;
use super::here_document::Pending;
use super::second_opinion;

/// Constructs inside constructs, deeper than this, are not read: it bounds the stack of both readers and the
/// backtracking of the second one.
const DEEPEST: usize = 16;

/// Why a script cannot be read: a fragment for a sentence.
#[derive(Debug)]
pub(crate) struct Unreadable(pub(crate) String);

pub(super) type Read<T> = Result<T, Unreadable>;

/// Reads one text from front to back.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) facts: &'a mut Vec<Fact>,
    pub(super) pending: Vec<Pending>,
    depth: usize,
    levels: Vec<Level>,
}

/// One list of commands: the whole text, or what stands between `$(` and `)`.
#[derive(Default)]
struct Level {
    start: usize,
    /// Expansions and here-documents, which are read on their own: the second reader sees a stand-in.
    holes: Vec<Hole>,
    /// The words of each command, as places in the text.
    outline: Vec<Vec<(usize, usize)>>,
}

struct Hole {
    start: usize,
    end: usize,
    stand_in: &'static str,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, facts: &'a mut Vec<Fact>, depth: usize) -> Self {
        Reader { text, at: 0, facts, pending: Vec::new(), depth, levels: vec![Level::default()] }
    }

    /// Reads the text as one script.
    pub(super) fn whole_script(&mut self) -> Read<()> {
        self.list(&[])?;
        if self.peek().is_some() {
            return Err(self.unexpected());
        }
        self.close_level()
    }

    /// A reader for another text, taken out of this one.
    pub(super) fn inside<'b>(&'b mut self, text: &'b str) -> Reader<'b> {
        Reader::new(text, self.facts, self.depth)
    }

    /// Reads one construct inside another.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.check_depth(0)?;
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Refuses another level when `more` are open beside those that are counted.
    pub(super) fn check_depth(&self, more: usize) -> Read<()> {
        if self.depth + more >= DEEPEST {
            return Err(Unreadable(format!("the script is nested more than {DEEPEST} levels deep")));
        }
        Ok(())
    }

    /// Reads a list of commands of its own up to the closing parenthesis, which is consumed.
    pub(super) fn enclosed_list(&mut self) -> Read<()> {
        self.levels.push(Level { start: self.at, ..Level::default() });
        self.deeper(|this| this.list(&[]))?;
        if self.peek() != Some(b')') {
            return Err(self.unexpected());
        }
        self.close_level()?;
        self.at += 1;
        Ok(())
    }

    fn close_level(&mut self) -> Read<()> {
        if let Some(open) = self.pending.first() {
            return Err(Unreadable(format!("the here-document \"{}\" is not finished", open.delimiter)));
        }
        let Some(level) = self.levels.pop() else { return Ok(()) };
        let skeleton = self.skeleton(&level, level.start, self.at);
        let outline: Vec<Vec<String>> = level
            .outline
            .iter()
            .map(|words| words.iter().map(|&(start, end)| self.skeleton(&level, start, end)).collect())
            .collect();
        second_opinion::agrees(&skeleton, &outline).map_err(Unreadable)
    }

    /// The text between two places, with stand-ins for what is read on its own.
    fn skeleton(&self, level: &Level, start: usize, end: usize) -> String {
        let mut out = String::new();
        let mut from = start;
        let first = level.holes.partition_point(|hole| hole.start < start);
        for hole in level.holes.iter().skip(first).take_while(|hole| hole.end <= end) {
            out.push_str(self.slice(from, hole.start));
            out.push_str(hole.stand_in);
            from = hole.end;
        }
        out.push_str(self.slice(from, end));
        out
    }

    /// Notes that everything since `start` is read on its own.
    pub(super) fn hole(&mut self, start: usize, stand_in: &'static str) {
        let end = self.at;
        if let Some(level) = self.levels.last_mut() {
            while level.holes.last().is_some_and(|inner| inner.start >= start) {
                level.holes.pop();
            }
            level.holes.push(Hole { start, end, stand_in });
        }
    }

    /// Notes the words of a command, so that the second reader can confirm them.
    pub(super) fn outline(&mut self, words: Vec<(usize, usize)>) {
        if let Some(level) = self.levels.last_mut() {
            level.outline.push(words);
        }
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    pub(super) fn previous(&self) -> Option<u8> {
        self.at.checked_sub(1).and_then(|before| self.text.as_bytes().get(before)).copied()
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.text.as_bytes()[self.at.min(self.text.len())..].starts_with(text.as_bytes())
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let there = self.starts_with(text);
        if there {
            self.at += text.len();
        }
        there
    }

    /// The variable name that starts here; empty when none does.
    pub(super) fn identifier(&mut self) -> &'a str {
        let start = self.at;
        while let Some(byte) = self.peek() {
            let fits = byte == b'_' || byte.is_ascii_alphabetic() || self.at > start && byte.is_ascii_digit();
            if !fits {
                break;
            }
            self.at += 1;
        }
        self.slice(start, self.at)
    }

    /// Skips spaces, tabs and line continuations between words.
    pub(super) fn skip_blanks(&mut self) -> Read<()> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.continuation()?,
                Some(b'#')
                    if matches!(
                        self.previous(),
                        None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
                    ) =>
                {
                    while self.peek().is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// Bash removes a continuation before it looks for tokens, so one that could join two tokens is not followed.
    fn continuation(&mut self) -> Read<()> {
        let apart = matches!(self.previous(), None | Some(b' ' | b'\t' | b'\n'))
            || matches!(self.peek_at(2), None | Some(b' ' | b'\t' | b'\n'));
        if !apart {
            return Err(Unreadable(
                "a line continues in the middle of a word; put a space before the backslash".into(),
            ));
        }
        self.at += 2;
        Ok(())
    }

    /// Skips blanks, comments and newlines; here-documents that were announced are read at the first newline.
    pub(super) fn skip_newlines(&mut self) -> Read<()> {
        loop {
            self.skip_blanks()?;
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.at += 1;
            self.here_documents()?;
        }
    }

    /// The unquoted run of characters that starts here, up to a blank or operator.
    pub(super) fn bare_word(&self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest.bytes().position(ends_word).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    }

    pub(super) fn eat_bare_word(&mut self, word: &str) -> bool {
        let there = self.bare_word() == word;
        if there {
            self.at += word.len();
        }
        there
    }

    pub(super) fn expect_bare_word(&mut self, word: &str) -> Read<()> {
        if self.eat_bare_word(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    pub(super) fn unexpected(&self) -> Unreadable {
        let rest = self.text.get(self.at..).unwrap_or_default();
        match rest.split_whitespace().next() {
            Some(near) => Unreadable(format!(
                "\"{}\" was not expected there",
                near.chars().take(20).collect::<String>()
            )),
            None => Unreadable("it ends too early".into()),
        }
    }
}

/// Whether this byte ends an unquoted word.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>')
}
