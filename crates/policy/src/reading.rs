//! A piece of work, read: what it would run.

use runward_model::{Argv, Refusal, Work};

use crate::words::split_plain;

/// A piece of work, read.
#[derive(Clone, Debug)]
pub enum Reading {
    /// One program with its arguments; no shell is needed.
    Plain(Argv),
    /// Text that bash has to run.
    Script(Script),
}

/// Text that bash has to run.
#[derive(Clone, Debug)]
pub struct Script {
    source: String,
}

impl Script {
    /// The text, as the caller gave it.
    pub fn source(&self) -> &str {
        &self.source
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
        return Ok(Reading::Script(Script { source: line.to_owned() }));
    };
    let mut words = words.into_iter();
    let file = words.next().ok_or(Refusal::Empty)?;
    Ok(Reading::Plain(Argv { file, args: words.collect() }))
}
