//! Words: quoting, and what is known of their value.

use super::ansi_c;
use super::cursor::{Read, Reader, Unreadable, ends_word};
use super::expansion::{Expanded, Quoting};
use super::facts::{Count, Value, Word};

/// A word as far as it has been read.
#[derive(Default)]
pub(super) struct Draft {
    text: String,
    /// Everything before the first unknown piece; `None` while all is known.
    prefix: Option<String>,
    count: Option<Count>,
    pieces: usize,
    numbers: usize,
    brace: bool,
    comma_or_range: bool,
    brackets: usize,
    last_bare: Option<char>,
}

impl Draft {
    fn quoted(&mut self, text: &str) {
        self.text.push_str(text);
        self.pieces += 1;
        self.last_bare = None;
    }

    fn bare(&mut self, c: char, next: Option<u8>) {
        match c {
            '*' | '?' => self.several(Count::Alike),
            '~' if matches!(self.last_bare, Some('=' | ':')) || self.pieces == 0 => self.unknown(),
            '[' => self.brackets += 1,
            '{' => {
                self.brace = true;
                self.comma_or_range |= next != Some(b'}');
            }
            ',' => self.comma_or_range = true,
            '.' if self.last_bare == Some('.') => self.comma_or_range = true,
            ']' if self.brackets > 0 => self.several(Count::Alike),
            _ => {}
        }
        self.text.push(c);
        self.pieces += 1;
        self.last_bare = Some(c);
    }

    fn several(&mut self, count: Count) {
        self.unknown();
        self.count = self.count.max(Some(count));
    }

    fn unknown(&mut self) {
        // A bracket or brace that came before may already have begun a pattern.
        let certain = self.text.find(['[', '{']).unwrap_or(self.text.len());
        let known = self.text.get(..certain).unwrap_or_default().to_owned();
        self.prefix.get_or_insert(known);
    }

    pub(super) fn expanded(&mut self, expanded: &Expanded) {
        if let Expanded::Dollar = expanded {
            self.quoted("$");
            return;
        }
        self.unknown();
        self.pieces += 1;
        self.last_bare = None;
        match expanded {
            Expanded::Number => self.numbers += 1,
            Expanded::Many => self.several(Count::Any),
            Expanded::One | Expanded::Dollar => {}
        }
    }

    fn finish(mut self, raw: &str) -> Word {
        if self.brace && self.comma_or_range {
            self.several(Count::Alike);
        }
        let number = self.pieces == 1 && self.numbers == 1;
        let value = match self.prefix {
            None => Value::Known(self.text),
            Some(prefix) => Value::Unknown { prefix, count: self.count.unwrap_or(Count::One), number },
        };
        Word { raw: raw.to_owned(), value }
    }
}

impl Reader<'_> {
    /// Reads one word; its raw text is empty when none starts here.
    pub(super) fn word(&mut self) -> Read<Word> {
        let start = self.at;
        let mut draft = Draft::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    self.process_substitution()?;
                    draft.expanded(&Expanded::One);
                }
                _ if ends_word(byte) => break,
                _ => self.piece(byte, &mut draft)?,
            }
        }
        Ok(draft.finish(self.slice(start, self.at)))
    }

    fn piece(&mut self, byte: u8, draft: &mut Draft) -> Read<()> {
        match byte {
            b'\'' => {
                let text = self.single_quoted()?;
                draft.quoted(text);
            }
            b'"' => self.double_quoted(draft)?,
            b'\\' => {
                self.at += 1;
                let escaped = self.escaped()?;
                draft.quoted(escaped);
            }
            b'$' if self.peek_at(1) == Some(b'\'') => self.ansi_quoted(draft)?,
            b'$' if self.peek_at(1) == Some(b'"') => {
                // A message catalogue may translate the text.
                self.at += 1;
                draft.unknown();
                self.double_quoted(draft)?;
            }
            b'$' | b'`' => {
                let expanded = self.expansion(Quoting::Bare)?;
                draft.expanded(&expanded);
            }
            _ => {
                let c = self.character()?;
                draft.bare(c, self.peek());
                self.check_depth(draft.brackets)?;
            }
        }
        Ok(())
    }

    pub(super) fn character(&mut self) -> Read<char> {
        let c =
            self.text.get(self.at..).and_then(|rest| rest.chars().next()).ok_or_else(|| self.unexpected())?;
        self.at += c.len_utf8();
        Ok(c)
    }

    /// The character after a backslash that stands outside quotes.
    fn escaped(&mut self) -> Read<&'_ str> {
        let start = self.at;
        if self.character()? == '\n' {
            return Err(Unreadable(
                "a line continues in the middle of a word; put a space before the backslash".into(),
            ));
        }
        Ok(self.slice(start, self.at))
    }

    pub(super) fn single_quoted(&mut self) -> Read<&'_ str> {
        let start = self.at + 1;
        let rest = self.text.get(start..).unwrap_or_default();
        let length = rest.find('\'').ok_or_else(|| Unreadable("a single quote is not closed".into()))?;
        self.at = start + length + 1;
        Ok(self.slice(start, start + length))
    }

    fn ansi_quoted(&mut self, draft: &mut Draft) -> Read<()> {
        let start = self.at + 2;
        let rest = self.text.get(start..).unwrap_or_default();
        let length = ansi_c::length(rest).ok_or_else(|| Unreadable("a single quote is not closed".into()))?;
        self.at = start + length + 1;
        match ansi_c::decode(self.slice(start, start + length)) {
            Some(text) => draft.quoted(&text),
            None => draft.expanded(&Expanded::One),
        }
        Ok(())
    }

    /// Reads from one double quote to the next.
    pub(super) fn double_quoted(&mut self, draft: &mut Draft) -> Read<()> {
        self.at += 1;
        draft.quoted("");
        loop {
            match self.peek() {
                None => return Err(Unreadable("a double quote is not closed".into())),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escaped_in_quotes(draft)?,
                Some(b'$' | b'`') => {
                    let expanded = self.expansion(Quoting::Double)?;
                    draft.expanded(&expanded);
                }
                Some(_) => {
                    let start = self.at;
                    self.character()?;
                    let text = self.slice(start, self.at);
                    draft.quoted(text);
                }
            }
        }
    }

    fn escaped_in_quotes(&mut self, draft: &mut Draft) -> Read<()> {
        let joins =
            self.previous().is_some_and(|byte| byte == b'$' || byte == b'_' || byte.is_ascii_alphanumeric());
        self.at += 1;
        match self.peek() {
            Some(b'\n') if joins => Err(Unreadable(
                "a line continues in the middle of a word; put a space before the backslash".into(),
            )),
            Some(b'\n') => {
                self.at += 1;
                Ok(())
            }
            Some(b'$' | b'`' | b'"' | b'\\') => {
                let text = self.slice(self.at, self.at + 1);
                draft.quoted(text);
                self.at += 1;
                Ok(())
            }
            _ => {
                draft.quoted("\\");
                Ok(())
            }
        }
    }
}
