//! A piece of work, read: what it would run.

use runward_model::{Argv, Refusal, Script as Text, Work};
use runward_script::{Dialect, Unreadable, split_plain};

use crate::facts::{Fact, facts, settle};

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
    read: Result<Read, String>,
}

#[derive(Clone, Debug)]
struct Read {
    tree: runward_script::Script,
    facts: Vec<Fact>,
}

impl Script {
    /// The text, as the caller gave it.
    pub fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn facts(&self) -> Result<&[Fact], &str> {
        self.read.as_ref().map(|read| read.facts.as_slice()).map_err(String::as_str)
    }

    /// The text that a shell is given in its place, written from what was judged, or the construct that this dialect
    /// does not have; `None` where the text could not be read.
    pub fn written(&self, dialect: Dialect) -> Option<Result<String, &'static str>> {
        self.read.as_ref().ok().map(|read| read.tree.written(dialect))
    }

    /// Every word of its commands, as far as they are known.
    pub(crate) fn words(&self) -> Vec<String> {
        let words = |fact: &Fact| match fact {
            Fact::Command(words) => words.iter().map(|word| word.prefix().to_owned()).collect(),
            _ => Vec::new(),
        };
        self.facts().unwrap_or_default().iter().flat_map(words).collect()
    }

    fn new(source: &str) -> Self {
        let tree = runward_script::read(source).map_err(|Unreadable(why)| why);
        let read = tree.and_then(|mut tree| {
            settle(&mut tree);
            Ok(Read { facts: facts(&tree)?, tree })
        });
        Script { source: source.to_owned(), read }
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
    let read = Err(format!("what {shell} would run is known to {shell} alone; use bash or sh"));
    Ok(Reading::Script(Script { source: source.to_owned(), read }))
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
        return Ok(Reading::Script(Script::new(line)));
    };
    let mut words = words.into_iter();
    let file = words.next().ok_or(Refusal::Empty)?;
    Ok(Reading::Plain(Argv { file, args: words.collect() }))
}
