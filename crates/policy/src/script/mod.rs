//! Reads a bash script into the facts that a judge needs, without running any of it.
//!
//! Two readers have to agree. The first one, here, is small and strict: it follows bash's own rules of quoting and
//! expansion for the part of the language that it knows, and refuses the rest. The second one is a complete grammar
//! ([`second_opinion`]): it must find the same commands with the same words. Where they differ, one of them reads
//! differently than bash would, so the script is refused.

mod ansi_c;
mod arithmetic;
mod compound;
mod conditional;
mod cursor;
mod expansion;
mod facts;
mod here_document;
mod second_opinion;
mod simple;
mod word;

pub(crate) use facts::{Count, Fact, Value, Word};

use cursor::{Reader, Unreadable};

/// Longer scripts are not read.
const LONGEST: usize = 64 * 1024;

/// Everything that running this text could do, in reading order, or why that cannot be known.
pub(crate) fn facts_of(source: &str) -> Result<Vec<Fact>, String> {
    if source.len() > LONGEST {
        return Err(format!("the script is longer than {LONGEST} bytes"));
    }
    if let Some(odd) = source.chars().find(|c| c.is_control() && !matches!(c, '\t' | '\n')) {
        return Err(format!("the script contains the control character U+{:04X}", u32::from(odd)));
    }
    let mut facts = Vec::new();
    match Reader::new(source, &mut facts, 0).whole_script() {
        Ok(()) => Ok(facts),
        Err(Unreadable(why)) => Err(why),
    }
}
