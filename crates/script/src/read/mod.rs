//! The reader: bash's own rules for the part of the language that is known here, and a refusal for the rest.

mod ansi_c;
mod arithmetic;
mod compound;
mod condition;
mod cursor;
mod expansion;
mod here_document;
mod list;
mod operand;
mod redirection;
mod simple;
mod word;

use cursor::Reader;

use crate::tree::Script;

/// Longer scripts are not read.
pub const LONGEST: usize = 1024 * 1024;

/// Why a script cannot be read: a fragment for a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

/// Reads a script.
pub fn read(text: &str) -> Result<Script, Unreadable> {
    if text.len() > LONGEST {
        return Err(Unreadable(format!("the script is longer than {LONGEST} bytes")));
    }
    // Not even in quotes: what a terminal or a log makes of them is nobody's business to guess.
    if let Some(odd) = text.chars().find(|c| c.is_control() && !matches!(c, '\t' | '\n')) {
        return Err(Unreadable(format!(
            "the script contains the control character U+{:04X}",
            u32::from(odd)
        )));
    }
    let list = Reader::new(text, 0, 1).whole_script()?;
    Ok(Script { list })
}
