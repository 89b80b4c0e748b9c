//! Words.

use std::fmt::Write;

use super::{Dialect, Writer, Written};
use crate::tree::{Direction, Part, Word};

impl Dialect {
    /// A word that is this text, in quotes. For bash it is ASCII only and on one line.
    pub fn quoted(self, text: &str) -> String {
        match self {
            Dialect::Bash => quoted(text),
            Dialect::Posix => format!("'{}'", text.replace('\'', r"'\''")),
        }
    }
}

fn quoted(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'\'') {
        return format!("'{text}'");
    }
    let mut out = String::from("$'");
    for byte in text.bytes() {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\'' | b'\\' => {
                out.push('\\');
                out.push(char::from(byte));
            }
            b' '..=b'~' => out.push(char::from(byte)),
            // Two digits, so that none of what follows is taken for a third.
            _ => drop(write!(out, "\\x{byte:02x}")),
        }
    }
    out.push('\'');
    out
}

impl Writer {
    /// A word between blanks.
    pub(super) fn word(&mut self, word: &Word) -> Written {
        word.parts.iter().try_for_each(|part| self.part(part))
    }

    /// A regular expression: quotes would make its signs stand for themselves.
    pub(super) fn pattern(&mut self, word: &Word) -> Written {
        word.parts.iter().try_for_each(|part| match part {
            Part::Dollar => {
                self.push("$");
                Ok(())
            }
            part => self.part(part),
        })
    }

    /// A word that is known to hold letters, digits and the like.
    pub(super) fn bare_name(&mut self, word: &Word) {
        let text: String = word.parts.iter().map(text_of).collect();
        self.push(&text);
    }

    pub(super) fn literal(&mut self, text: &str) {
        let quoted = self.dialect.quoted(text);
        self.push(&quoted);
        self.line += quoted.bytes().filter(|byte| *byte == b'\n').count();
    }

    fn part(&mut self, part: &Part) -> Written {
        match part {
            Part::Literal(text) => self.literal(text),
            // The reader leaves nothing in it that a shell could take for a sign of its own.
            Part::Bare(text) => self.push(text),
            Part::Dollar => self.push("'$'"),
            Part::Expansion { expansion, quoted } => {
                let quote = if *quoted { "\"" } else { "" };
                self.push(quote);
                self.expansion(expansion, *quoted)?;
                self.push(quote);
            }
            Part::Process(direction, list) => {
                self.only_bash("a process substitution")?;
                self.push(if *direction == Direction::From { "<( " } else { ">( " });
                self.enclosed(list)?;
                self.push(" )");
            }
        }
        Ok(())
    }

    /// A text that a command reads, where there are no here-strings.
    pub(super) fn document(&mut self, text: &Word) -> Written {
        const DELIMITER: &str = "END_OF_TEXT";
        self.push("<<");
        self.push(DELIMITER);
        let mut body = Writer { out: String::new(), line: 0, dialect: self.dialect, documents: Vec::new() };
        for part in &text.parts {
            match part {
                Part::Literal(text) | Part::Bare(text) => body.push(&escaped(text)),
                Part::Dollar => body.push("\\$"),
                Part::Expansion { expansion, .. } => body.expansion(expansion, true)?,
                Part::Process(..) => return Err("a process substitution"),
            }
        }
        let ends_early = body.out.lines().any(|line| line == DELIMITER) || !body.documents.is_empty();
        if ends_early {
            return Err("this here-document");
        }
        self.documents.push(format!("{}\n{DELIMITER}\n", body.out));
        Ok(())
    }
}

fn text_of(part: &Part) -> &str {
    match part {
        Part::Literal(text) | Part::Bare(text) => text,
        Part::Dollar => "$",
        Part::Expansion { .. } | Part::Process(..) => "",
    }
}

/// Text in a here-document that is expanded.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(c, '$' | '`' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
