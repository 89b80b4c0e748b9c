//! A piece of work, read: what it would run.

use runward_model::{Argv, Refusal, Script as Text, Work};

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
        Work::Script(Text { source, shell, .. }) => match foreign(shell.as_deref()) {
            None => read_line(source),
            Some(shell) => unread(source, shell),
        },
    }
}

/// The name of a shell that is no relative of bash.
fn foreign(shell: Option<&str>) -> Option<&str> {
    let name = shell?.rsplit('/').next()?;
    (!matches!(name, "bash" | "sh")).then_some(name)
}

/// Text that is not read at all: another shell would take it for something else.
fn unread(source: &str, shell: &str) -> Result<Reading, Refusal> {
    if source.contains('\0') {
        return Err(Refusal::Nul { what: "command" });
    }
    if source.trim().is_empty() {
        return Err(Refusal::Empty);
    }
    let facts = Err(format!("what {shell} would run is known to {shell} alone; use bash or sh"));
    Ok(Reading::Script(Script { source: source.to_owned(), facts }))
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
