//! The writer: a tree as text that bash reads as that very tree.
//!
//! What it writes is a small part of the language: one spelling for each construct, quotes around all text, ASCII only.

mod command;
mod expansion;
mod word;

use crate::tree::{Item, List, Script};

/// The shell that reads what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Bash.
    Bash,
    /// Any other shell that knows what POSIX asks of one. Text beyond ASCII stands in single quotes as it is.
    Posix,
}

/// Why a tree cannot be written in a dialect: the construct that it does not have.
type Written = Result<(), &'static str>;

impl Script {
    /// The text that runs, or the construct that this dialect does not have.
    pub fn written(&self, dialect: Dialect) -> Result<String, &'static str> {
        let mut writer = Writer { out: String::new(), line: 1, dialect, documents: Vec::new() };
        writer.enclosed(&self.list)?;
        writer.end_documents();
        Ok(writer.out)
    }
}

struct Writer {
    out: String,
    /// The line that it stands on.
    line: usize,
    dialect: Dialect,
    /// Texts of here-documents that were announced, which have to follow at the next newline.
    documents: Vec<String>,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// What only bash knows.
    fn only_bash(&self, construct: &'static str) -> Written {
        if self.dialect == Dialect::Bash { Ok(()) } else { Err(construct) }
    }

    /// Goes down to the line that a command stood on. It never stands further up: nothing is written on more lines than
    /// it was read from.
    fn go_to_line(&mut self, line: usize) {
        while self.line < line && self.documents.is_empty() {
            self.out.push('\n');
            self.line += 1;
        }
    }

    /// Entries with a separator behind each, for what a word such as `done` or a brace follows.
    fn list(&mut self, list: &List) -> Written {
        self.items(list, ";")
    }

    /// Entries of which the last has no separator: a parenthesis follows, or nothing.
    fn enclosed(&mut self, list: &List) -> Written {
        self.items(list, "")
    }

    fn items(&mut self, list: &List, ending: &str) -> Written {
        for (at, Item { and_or, background }) in list.iter().enumerate() {
            if at > 0 {
                self.push(" ");
            }
            self.and_or(and_or)?;
            let ends_line = !self.documents.is_empty();
            self.push(match (background, ends_line) {
                (true, _) => " &",
                (false, true) => "",
                (false, false) if at + 1 == list.len() => ending,
                (false, false) => ";",
            });
            self.end_documents();
        }
        Ok(())
    }

    fn end_documents(&mut self) {
        if self.documents.is_empty() {
            return;
        }
        self.push("\n");
        for document in std::mem::take(&mut self.documents) {
            self.push(&document);
        }
        self.line = 1 + self.out.bytes().filter(|byte| *byte == b'\n').count();
    }
}
