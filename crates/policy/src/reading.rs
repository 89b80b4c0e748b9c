//! A piece of work, read: what it would run.

use runward_model::{Argv, Refusal, Work};

use crate::script::{Fact, facts_of};
use crate::words::split_plain;

/// A piece of work, read.
#[derive(Clone, Debug)]
pub enum Reading {
    /// One program with its arguments; no shell is needed.
    Plain(Argv),
    /// Text that bash has to run.
    Script(Script),
}

/// Text that bash has to run, and what it would do, as far as that can be known before it runs.
#[derive(Clone, Debug)]
pub struct Script {
    source: String,
    facts: Result<Vec<Fact>, String>,
}

impl Script {
    /// The text, as the caller gave it.
    pub fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn facts(&self) -> Result<&[Fact], &str> {
        self.facts.as_deref().map_err(String::as_str)
    }
}

/// Reads a piece of work. A program with arguments is always plain.
pub fn read(work: &Work) -> Result<Reading, Refusal> {
    match work {
        Work::Argv(argv) => read_argv(argv),
        Work::Line(line) => read_line(line),
    }
}

fn read_argv(argv: &Argv) -> Result<Reading, Refusal> {
    if argv.file.is_empty() {
        return Err(Refusal::Empty);
    }
    if argv.file.contains('\0') {
        return Err(Refusal::Nul { what: "file" });
    }
    if argv.args.iter().any(|arg| arg.contains('\0')) {
        return Err(Refusal::Nul { what: "args" });
    }
    Ok(Reading::Plain(argv.clone()))
}

fn read_line(line: &str) -> Result<Reading, Refusal> {
    if line.contains('\0') {
        return Err(Refusal::Nul { what: "command" });
    }
    let Some(words) = split_plain(line) else {
        return Ok(Reading::Script(Script { source: line.to_owned(), facts: facts_of(line) }));
    };
    let mut words = words.into_iter();
    let file = words.next().ok_or(Refusal::Empty)?;
    Ok(Reading::Plain(Argv { file, args: words.collect() }))
}
