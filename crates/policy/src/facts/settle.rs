//! What is made of a script before it is judged and run, so that more of it can be known.
//!
//! Where rules decide, bash is given what is written from the tree. So a tree may be changed into one that does the same
//! and leaves less to be guessed: whatever comes of it is what is judged and what runs, and a mistake in here makes a script
//! do something else than was meant, but nothing that nobody judged.

mod constants;
mod handlers;
mod numbers;

use runward_script::{Argument, Change, Command, Kind, Part, Script, Simple, Word, change};

use super::draft;
pub(super) use handlers::{Trap, read as read_handler, trap};
pub(super) use numbers::{Doubts, made_of};

/// Signs of `[` that stand beside numbers.
const COMPARING: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// Changes what can be changed without changing what a script does.
pub(crate) fn settle(script: &mut Script) {
    constants::fill_in(&mut script.list);
    change(&mut script.list, &mut Plainly);
    numbers::make_numbers(&mut script.list);
}

/// What can be said of a command by itself.
struct Plainly;

impl Change for Plainly {
    fn command(&mut self, command: &mut Command) {
        if let Some(kind) = let_as_arithmetic(command) {
            command.kind = kind;
        }
        let Kind::Simple(simple) = &mut command.kind else { return };
        handlers::write_anew(simple);
        if matches!(name(simple), Some("[" | "test")) {
            quote_numbers(simple);
        }
    }
}

/// The command's own name, where it is written out.
fn name(simple: &Simple) -> Option<&str> {
    text(simple.words.first()?)
}

/// A word that is one text.
fn text(argument: &Argument) -> Option<&str> {
    match argument {
        Argument::Word(Word { parts, .. }) => match parts.as_slice() {
            [Part::Literal(text) | Part::Bare(text)] => Some(text),
            _ => None,
        },
        Argument::Assignment(_) => None,
    }
}

/// `let x=1+2` is `((x=1+2))`, which can be read.
fn let_as_arithmetic(command: &Command) -> Option<Kind> {
    let Kind::Simple(simple) = &command.kind else { return None };
    let alone = simple.assignments.is_empty() && command.redirections.is_empty();
    if !alone || name(simple) != Some("let") {
        return None;
    }
    let texts: Option<Vec<&str>> = simple.words.iter().skip(1).map(text).collect();
    let texts = texts.filter(|texts| !texts.is_empty())?;
    let mut script = runward_script::read(&format!("(({}))", texts.join(", "))).ok()?;
    let only = script.list.pop().filter(|_| script.list.is_empty())?;
    let whole = only.and_or.rest.is_empty() && only.and_or.first.rest.is_empty() && !only.background;
    matches!(only.and_or.first.first.kind, Kind::Arithmetic(_)).then_some(())?;
    whole.then_some(only.and_or.first.first.kind)
}

/// `[ $x -gt 3 ]` is `[ "$x" -gt 3 ]`: what is not one number fails either way, and cannot become words of its own.
fn quote_numbers(simple: &mut Simple) {
    let compares: Vec<bool> =
        simple.words.iter().map(|word| text(word).is_some_and(|text| COMPARING.contains(&text))).collect();
    let beside = |at: usize| {
        let compares = |at: Option<usize>| at.and_then(|at| compares.get(at)).copied().unwrap_or_default();
        compares(at.checked_sub(1)) || compares(at.checked_add(1))
    };
    for (at, word) in simple.words.iter_mut().enumerate().skip(1) {
        let Argument::Word(Word { parts, .. }) = word else { continue };
        if let [Part::Expansion { quoted, expansion }] = parts.as_mut_slice()
            && beside(at)
            && !draft::is_several(expansion)
        {
            *quoted = true;
        }
    }
}
