//! Programs whose arguments are another command.

mod carriers;
mod find;
mod lines;
mod options;
mod shells;
mod strangers;
mod table;
mod unread;
mod words;

use crate::facts::{Value, Word};
use crate::variables::is_tame_locale;
pub(crate) use carriers::{is_before_line, is_starter, starts_its_words};
pub(crate) use lines::{Certain, Started, started};
use options::Options;
pub(crate) use shells::handed;
pub(crate) use strangers::starts;
use table::{Inner, Wrapper};
pub(crate) use table::{is_interpreter, starts_others};
pub(crate) use words::{Kind, begins, is_runner, is_text, kind, may_begin, reads_code};

/// A command inside another one's arguments.
#[derive(Debug)]
pub(crate) struct Enclosed {
    /// Its name and arguments.
    pub(crate) words: Vec<Word>,
    /// Variables that are set for it.
    pub(crate) variables: Vec<String>,
    /// Whether it runs somewhere else than its wrapper.
    pub(crate) moved: bool,
    /// Whether bash looks for it among its own commands too.
    pub(crate) in_shell: bool,
}

impl Enclosed {
    fn new(words: Vec<Word>) -> Self {
        Enclosed { words, variables: Vec::new(), moved: false, in_shell: false }
    }
}

/// The commands that `name` would start, given these arguments; none when it is no wrapper or starts nothing.
/// An error is a sentence: why that cannot be known.
pub(crate) fn enclosed(name: &str, args: &[Word]) -> Result<Vec<Enclosed>, String> {
    if name == "find" {
        return find::enclosed(args);
    }
    if is_loader(name) {
        return loaded(name, args);
    }
    let Some(wrapper) = table::wrapper(name) else { return Ok(Vec::new()) };
    let read = options::read(wrapper, args)?;
    if wrapper.needs_command && read.rest.is_empty() {
        return Err(format!("\"{name}\" without a command starts a shell that reads its input; give it one"));
    }
    match wrapper.inner {
        Inner::Refused(why) => Err(format!("\"{name}\" {why}")),
        Inner::AfterFile => Ok(command(read.rest.get(1..).unwrap_or_default(), wrapper)),
        Inner::AfterNumber => after_number(wrapper, read.rest),
        Inner::Variables => with_variables(&read, wrapper),
        Inner::Xargs => Ok(vec![fed(&read)]),
        Inner::Line => line(name, read.rest),
        Inner::LineOption => {
            options::one_operand(wrapper, &read)?;
            line(name, read.line.as_slice())
        }
        Inner::Lookup if read.seen.contains(&'v') || read.seen.contains(&'V') => Ok(Vec::new()),
        Inner::Command | Inner::Lookup | Inner::Shell => Ok(command(read.rest, wrapper)),
    }
}

fn command(words: &[Word], wrapper: &Wrapper) -> Vec<Enclosed> {
    if words.is_empty() {
        return Vec::new();
    }
    let in_shell = matches!(wrapper.inner, Inner::Lookup | Inner::Shell);
    vec![Enclosed { in_shell, ..Enclosed::new(words.to_vec()) }]
}

/// `timeout 5 command`. Where the number may be left out, what stands in its place is the command.
fn after_number(wrapper: &Wrapper, words: &[Word]) -> Result<Vec<Enclosed>, String> {
    match words.split_first() {
        Some((number, _))
            if !number
                .text()
                .is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit() || c == '.')) =>
        {
            Err(format!("\"{}\" has to be a number for \"{}\"", number.raw, wrapper.name))
        }
        Some((_, words)) => Ok(command(words, wrapper)),
        None => Ok(Vec::new()),
    }
}

/// `env A=1 B=2 command`.
fn with_variables(read: &Options<'_>, wrapper: &Wrapper) -> Result<Vec<Enclosed>, String> {
    let named = |word: &Word| word.prefix().split_once('=').map(|(name, _)| name.to_owned());
    for word in read.rest.iter().take_while(|word| named(word).is_some()) {
        let (name, value) = word.prefix().split_once('=').unwrap_or_default();
        if !is_tame_locale(name, Some(value).filter(|_| word.text().is_some())) {
            return Err(format!(
                "the variable \"{name}\" may only be C, POSIX or a locale in UTF-8; write that out"
            ));
        }
    }
    let mut variables = read.unset.clone();
    variables.extend(read.rest.iter().map_while(named));
    let assignments = read.rest.iter().map_while(named).count();
    let words = read.rest.get(assignments..).unwrap_or_default();
    // A value that splits into several words could hide the command.
    let split = read.rest.iter().take(assignments).position(Word::is_many);
    let words = split.and_then(|at| read.rest.get(at..)).unwrap_or(words);
    if words.is_empty() && variables.is_empty() {
        return Ok(command(words, wrapper));
    }
    let moved = read.seen.contains(&'C') || read.seen.contains(&'D');
    Ok(vec![Enclosed { variables, moved, ..Enclosed::new(words.to_vec()) }])
}

/// `xargs command`: what is read from the input is appended, or takes the place of a marker.
fn fed(read: &Options<'_>) -> Enclosed {
    let mut words = read.rest.to_vec();
    if words.is_empty() {
        words.push(Word::known("echo"));
    }
    let marker = read.marker.clone().unwrap_or_default();
    if !marker.is_empty() {
        for word in &mut words {
            filled_in(word, &marker);
        }
    }
    words.push(Word::anything("(input)"));
    Enclosed::new(words)
}

/// Forgets everything from the marker on, which is replaced when it runs.
fn filled_in(word: &mut Word, marker: &str) {
    if let Some(at) = word.prefix().find(marker) {
        let prefix = word.prefix().get(..at).unwrap_or_default().to_owned();
        word.value = Value::Unknown { prefix, count: word.count(), number: false };
    }
}

/// A command line that goes to a shell: read only where no shell would find anything to do in it.
fn line(name: &str, words: &[Word]) -> Result<Vec<Enclosed>, String> {
    let texts: Option<Vec<&str>> = words.iter().map(Word::text).collect();
    let split = texts
        .filter(|texts| !texts.is_empty())
        .and_then(|texts| runward_script::split_plain(&texts.join(" ")));
    match split {
        Some(words) if !words.is_empty() => {
            Ok(vec![Enclosed::new(words.into_iter().map(Word::known).collect())])
        }
        _ => Err(format!("what \"{name}\" gives to a shell cannot be judged; give it one plain command")),
    }
}

/// Whether the arguments of this program are another command, or can hold one.
pub(crate) fn is_wrapper(name: &str) -> bool {
    name == "find" || is_loader(name) || table::wrapper(name).is_some()
}

/// Whether it is known how this program takes its words.
pub(crate) fn is_known(name: &str) -> bool {
    starts_its_words(name) || is_known_otherwise(name)
}

/// The same where it is known by something else than the words that it starts.
fn is_known_otherwise(name: &str) -> bool {
    is_wrapper(name) || lines::is_tool(name) || shells::is_known(name)
}

/// Whether this is the dynamic loader, which starts the program that it is given.
fn is_loader(name: &str) -> bool {
    let old = name.starts_with("ld-") && name.contains(".so");
    old || ["ld.so", "ld64.so", "ld-linux", "ld-musl"].iter().any(|begin| name.starts_with(begin))
}

fn loaded(name: &str, args: &[Word]) -> Result<Vec<Enclosed>, String> {
    match args.first() {
        None => Ok(Vec::new()),
        Some(first) if first.prefix().is_empty() || first.prefix().starts_with('-') => {
            Err(options::not_known(name, first))
        }
        // Without a slash it looks where libraries are, not on the path.
        Some(first) if !first.text().is_some_and(|text| text.contains('/')) => {
            Err(format!("\"{}\" is looked up among libraries by \"{name}\"; give its path", first.raw))
        }
        Some(_) => Ok(vec![Enclosed::new(args.to_vec())]),
    }
}
