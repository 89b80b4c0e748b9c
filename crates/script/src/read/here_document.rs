//! Here-documents, read as what bash makes of them: one text with a newline at its end.

use super::Unreadable;
use super::cursor::{Bodies, Read, Reader, ends_word};
use super::word::Pieces;
use crate::tree::{Redirection, Word};

/// What stands after `<<`.
struct Delimiter {
    text: String,
    /// Whether the body is taken as it is.
    quoted: bool,
    strips_tabs: bool,
}

impl Reader<'_> {
    /// Reads what follows `<<`, and the body.
    pub(super) fn here_document(&mut self, descriptor: Option<u16>) -> Read<Redirection> {
        let delimiter = self.delimiter()?;
        let unfinished = || Unreadable(format!("the here-document \"{}\" is not finished", delimiter.text));
        let bodies = match self.bodies {
            Some(bodies) if bodies.newline < self.at => return Err(self.unexpected()),
            Some(bodies) => bodies,
            None => {
                let ahead = self.slice(self.at, self.text.len()).find('\n').ok_or_else(unfinished)?;
                Bodies { newline: self.at + ahead, end: self.at + ahead + 1 }
            }
        };
        let (body, length) =
            delimiter.body(self.slice(bodies.end, self.text.len())).ok_or_else(unfinished)?;
        self.bodies = Some(Bodies { end: bodies.end + length, ..bodies });
        self.as_text(descriptor, &delimiter, &body)
    }

    /// Delimiters are plain words, bare or quoted as a whole.
    fn delimiter(&mut self) -> Read<Delimiter> {
        let strips_tabs = self.eat("-");
        self.skip_blanks()?;
        let start = self.at;
        while self.peek().is_some_and(|byte| !ends_word(byte)) {
            self.at += 1;
        }
        let raw = self.slice(start, self.at);
        let unquoted = raw
            .strip_prefix('\'')
            .and_then(|inner| inner.strip_suffix('\''))
            .or_else(|| raw.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')))
            .or_else(|| raw.strip_prefix('\\'));
        let text = unquoted.unwrap_or(raw);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if text.is_empty() || !text.bytes().all(plain) {
            return Err(Unreadable(format!("the here-document delimiter \"{raw}\" is not a plain word")));
        }
        Ok(Delimiter { text: text.to_owned(), quoted: unquoted.is_some(), strips_tabs })
    }

    fn as_text(&mut self, descriptor: Option<u16>, delimiter: &Delimiter, body: &str) -> Read<Redirection> {
        let raw = format!("<<{}", delimiter.text);
        let Some(text) = body.strip_suffix('\n') else {
            let target = Word { raw, ..Word::literal("/dev/null") };
            return Ok(Redirection { descriptor, operator: "<", target });
        };
        let parts = if delimiter.quoted {
            Word::literal(text).parts
        } else if text.len().saturating_sub(text.trim_end_matches('\\').len()) % 2 == 1 {
            // To bash the line goes on, and the delimiter belongs to it.
            return Err(continues());
        } else {
            self.deeper(|this| this.inside(text).expanded_body())?
        };
        Ok(Redirection { descriptor, operator: "<<<", target: Word { parts, raw } })
    }

    /// Reads a body that bash expands.
    fn expanded_body(&mut self) -> Read<Vec<crate::tree::Part>> {
        let mut pieces = Pieces::default();
        pieces.literal("");
        while let Some(byte) = self.peek() {
            match (byte, self.peek_at(1)) {
                (b'\\', Some(b'\n')) => return Err(continues()),
                (b'\\', Some(b'$' | b'`' | b'\\')) => {
                    self.at += 1;
                    self.literal_character(&mut pieces)?;
                }
                (b'$' | b'`', _) => self.quoted_expansion(super::word::Quoting::Body, &mut pieces)?,
                _ => self.literal_character(&mut pieces)?,
            }
        }
        Ok(pieces.finish())
    }
}

fn continues() -> Unreadable {
    Unreadable("a line of a here-document continues; quote its delimiter".into())
}

impl Delimiter {
    /// The body, and how long it is with the line that ends it.
    fn body(&self, text: &str) -> Option<(String, usize)> {
        let (mut body, mut length) = (String::new(), 0);
        for line in text.split_inclusive('\n') {
            length += line.len();
            let line = if self.strips_tabs { line.trim_start_matches('\t') } else { line };
            if line.strip_suffix('\n').unwrap_or(line) == self.text {
                return Some((body, length));
            }
            body.push_str(line);
        }
        None
    }
}
