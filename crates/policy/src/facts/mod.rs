//! What a script would do, read off its tree without running any of it.

mod arithmetic;
mod certain;
mod commands;
mod draft;
mod expansions;
mod known;
mod numbers;
mod settle;
mod walk;
mod whole;
mod word;

use runward_script::{Script, Unreadable};

pub(crate) use numbers::FRONT;
pub(crate) use settle::settle;
pub(crate) use word::{Count, Value, Word, is_integer};

/// One thing that a script would do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fact {
    /// Runs a command: its name and arguments.
    Command(Vec<Word>),
    /// Measures what follows by bash's own `time`.
    Timed,
    /// Gives a command, by its words, this text to read.
    Input(Vec<Word>, Word),
    /// Defines a function.
    Function(String),
    /// Gives a variable a value, and which, where that is known.
    Assigned(String, Option<String>),
    /// Evaluates a variable as an arithmetic expression. Its value is parsed again, substitutions included.
    Counted {
        /// Which.
        name: String,
        /// Whether it is certain to hold a number there.
        known: bool,
    },
}

/// Everything that running this script could do, in reading order, or why that cannot be known.
pub(crate) fn facts(script: &Script) -> Result<Vec<Fact>, String> {
    let whole = whole::Whole::of(&script.list)?;
    let mut walker = walk::Walker::new(Some(&whole));
    walker.script(&script.list)?;
    Ok(walker.facts)
}

/// The same for a text.
pub(crate) fn facts_of(source: &str) -> Result<Vec<Fact>, String> {
    let script = runward_script::read(source).map_err(|Unreadable(why)| why)?;
    facts(&script)
}
