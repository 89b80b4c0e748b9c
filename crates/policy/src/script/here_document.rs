//! Here-documents.

use super::cursor::{Read, Reader, Unreadable, ends_word};
use super::expansion::Quoting;

/// A here-document that was announced and whose body comes after the line.
pub(super) struct Pending {
    pub(super) delimiter: String,
    quoted: bool,
    strip_tabs: bool,
}

impl Reader<'_> {
    /// Reads what follows `<<`. Delimiters are plain words, bare or quoted as a whole.
    pub(super) fn announce_here_document(&mut self) -> Read<()> {
        let strip_tabs = self.eat("-");
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
        let delimiter = unquoted.unwrap_or(raw);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if delimiter.is_empty() || !delimiter.bytes().all(plain) {
            return Err(Unreadable(format!("the here-document delimiter \"{raw}\" is not a plain word")));
        }
        self.pending.push(Pending {
            delimiter: delimiter.to_owned(),
            quoted: unquoted.is_some(),
            strip_tabs,
        });
        Ok(())
    }

    /// Reads the bodies that were announced on the line that just ended.
    pub(super) fn here_documents(&mut self) -> Read<()> {
        for document in std::mem::take(&mut self.pending) {
            self.here_document(&document)?;
        }
        Ok(())
    }

    fn here_document(&mut self, document: &Pending) -> Read<()> {
        let start = self.at;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            if rest.is_empty() {
                return Err(Unreadable(format!(
                    "the here-document \"{}\" is not finished",
                    document.delimiter
                )));
            }
            let length = rest.find('\n').unwrap_or(rest.len());
            let line = rest.get(..length).unwrap_or_default();
            let compared = if document.strip_tabs { line.trim_start_matches('\t') } else { line };
            if compared == document.delimiter {
                let body = self.slice(start, self.at);
                self.hole(start, "");
                self.at += (length + 1).min(rest.len());
                return if document.quoted { Ok(()) } else { self.deeper(|this| this.inside(body).body()) };
            }
            self.at += (length + 1).min(rest.len());
        }
    }

    /// Reads a body that bash expands.
    fn body(&mut self) -> Read<()> {
        while let Some(byte) = self.peek() {
            match (byte, self.peek_at(1)) {
                (b'\\', Some(b'\n')) => {
                    return Err(Unreadable(
                        "a line of a here-document continues; quote its delimiter".into(),
                    ));
                }
                (b'\\', Some(_)) => {
                    self.at += 1;
                    self.character()?;
                }
                (b'$' | b'`', _) => {
                    self.expansion(Quoting::Body)?;
                }
                _ => {
                    self.character()?;
                }
            }
        }
        Ok(())
    }
}
