//! Where the reader stands.

use super::Unreadable;
use crate::tree::{Line, List};

/// Constructs inside constructs, deeper than this, are not read: it bounds the stack.
const DEEPEST: usize = 16;

pub(super) type Read<T> = Result<T, Unreadable>;

/// Reads one text from front to back.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Bodies of here-documents that were announced on this line, which are skipped at its end.
    pub(super) bodies: Option<Bodies>,
    depth: usize,
    /// A place in the text and the number of its line: lines are counted from here on.
    counted: (usize, usize),
}

/// Bodies of here-documents: they are read when they are announced, and begin after the line that announces them.
#[derive(Clone, Copy)]
pub(super) struct Bodies {
    /// The newline that ends that line.
    pub(super) newline: usize,
    /// Where the text goes on behind them.
    pub(super) end: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, depth: usize, line: usize) -> Self {
        Reader { text, at: 0, bodies: None, depth, counted: (0, line) }
    }

    /// Reads the text as one script.
    pub(super) fn whole_script(&mut self) -> Read<List> {
        let list = self.list(&[])?;
        if self.peek().is_some() || self.bodies.is_some() {
            return Err(self.unexpected());
        }
        Ok(list)
    }

    /// A reader for another text, taken out of this one.
    pub(super) fn inside<'b>(&mut self, text: &'b str) -> Reader<'b> {
        let line = self.line().0;
        Reader::new(text, self.depth, line)
    }

    /// The line that it stands on.
    pub(super) fn line(&mut self) -> Line {
        let (from, line) = self.counted;
        let passed = self.slice(from.min(self.at), self.at);
        let line = line + passed.bytes().filter(|byte| *byte == b'\n').count();
        self.counted = (self.at, line);
        Line(line)
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
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
    pub(super) fn enclosed_list(&mut self) -> Read<List> {
        let outside = self.bodies.map(|bodies| bodies.newline);
        let list = self.deeper(|this| this.list(&[]))?;
        // Shells differ in where a document begins that was announced before or inside parentheses over several lines.
        if self.peek() != Some(b')') || self.bodies.map(|bodies| bodies.newline) != outside {
            return Err(self.unexpected());
        }
        self.at += 1;
        Ok(list)
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

    /// Skips spaces, tabs and line continuations between words, and a comment where one begins.
    pub(super) fn skip_blanks(&mut self) -> Read<()> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.continuation()?,
                Some(b'#') if self.is_between_words() => {
                    while self.peek().is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// Whether a word, or a comment, could begin here. After a closing parenthesis it could not be told which.
    fn is_between_words(&self) -> bool {
        matches!(self.previous(), None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b'<' | b'>'))
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
            self.newline()?;
        }
    }

    /// Passes a newline, and the bodies that were announced before it.
    fn newline(&mut self) -> Read<()> {
        match self.bodies.take() {
            Some(bodies) if bodies.newline == self.at => self.at = bodies.end,
            Some(bodies) if bodies.newline < self.at => {
                return Err(Unreadable("a quote goes on over the line of a here-document".into()));
            }
            later => {
                self.bodies = later;
                self.at += 1;
            }
        }
        Ok(())
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

    pub(super) fn expect(&mut self, text: &str) -> Read<()> {
        self.skip_blanks()?;
        if self.eat(text) { Ok(()) } else { Err(self.unexpected()) }
    }

    pub(super) fn character(&mut self) -> Read<char> {
        let c =
            self.text.get(self.at..).and_then(|rest| rest.chars().next()).ok_or_else(|| self.unexpected())?;
        self.at += c.len_utf8();
        Ok(c)
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
