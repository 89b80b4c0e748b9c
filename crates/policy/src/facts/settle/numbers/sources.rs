//! Where the values of variables come from.

use std::collections::HashMap;

use runward_script::{
    Argument, Arithmetic, Assigned, Assignment, Change, Command, Expansion, Kind, List, Part, Simple, Token,
    Word, change,
};

use crate::facts::draft;
use crate::facts::settle::{name, text};

/// Builtins that print what they are given.
const PRINTERS: [&str; 2] = ["echo", "printf"];

/// Builtins beside `read` whose words name variables that they fill.
const FILLERS: [&str; 6] = ["getopts", "mapfile", "printf", "readarray", "unset", "wait"];

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// It is a number, whoever wrote it.
    Number,
    /// A program printed it, or it was read.
    Outside,
    /// The script itself says it.
    Script,
}

/// Where the values of each variable come from; of several sources the last in the order of their kinds.
#[derive(Default)]
pub(super) struct Sources(HashMap<String, Source>);

impl Sources {
    pub(super) fn of(list: &mut List) -> Self {
        let mut sources = Sources::default();
        change(list, &mut sources);
        sources
    }

    /// Whether everything that a variable holds is a number or comes from elsewhere.
    pub(super) fn are_outside(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Source::Outside)
    }

    fn note(&mut self, name: &str, source: Source) {
        let known = self.0.entry(name.to_owned()).or_insert(source);
        *known = source.max(*known);
    }

    fn assigned(&mut self, Assignment { name, subscript, appends, value }: &Assignment) {
        let source = match value {
            Assigned::Word(word) if subscript.is_none() && !appends => source(word),
            _ => Source::Script,
        };
        self.note(name, source);
    }

    fn filled(&mut self, simple: &Simple, source: Source) {
        for word in simple.words.iter().skip(1).filter_map(text) {
            self.note(word.trim_start_matches("-v"), source);
        }
    }
}

impl Change for Sources {
    fn command(&mut self, command: &mut Command) {
        match &command.kind {
            Kind::For(name, words, _) => {
                let sources = words.iter().flatten().map(source);
                self.note(name, sources.max().unwrap_or(Source::Script));
            }
            Kind::Simple(simple) => {
                for assignment in &simple.assignments {
                    self.assigned(assignment);
                }
                for word in &simple.words {
                    if let Argument::Assignment(assignment) = word {
                        self.assigned(assignment);
                    }
                }
                let from_text = command.redirections.iter().any(|one| one.operator == "<<<");
                match name(simple) {
                    Some("read") if !from_text => self.filled(simple, Source::Outside),
                    Some("read" | "builtin" | "command") => self.filled(simple, Source::Script),
                    Some(name) if FILLERS.contains(&name) => self.filled(simple, Source::Script),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn arithmetic(&mut self, Arithmetic { tokens }: &mut Arithmetic) {
        for (_, token) in tokens {
            if let Token::Name(name) = token
                && self.0.contains_key(name)
            {
                self.note(name, Source::Number);
            }
        }
    }
}

fn source(word: &Word) -> Source {
    match word.parts.as_slice() {
        [Part::Expansion { expansion: Expansion::Arithmetic(_) | Expansion::Length(_), .. }] => {
            Source::Number
        }
        [Part::Expansion { expansion: expansion @ Expansion::Output(_), .. }]
            if !prints_own_text(expansion) =>
        {
            Source::Outside
        }
        _ if draft::known(word).is_number() => Source::Number,
        _ => Source::Script,
    }
}

/// Whether `$(…)` may print what the script itself says.
pub(super) fn prints_own_text(expansion: &Expansion) -> bool {
    let Expansion::Output(list) = expansion else { return true };
    let mut printers = Printers(false);
    change(&mut list.clone(), &mut printers);
    printers.0
}

struct Printers(bool);

impl Change for Printers {
    fn command(&mut self, command: &mut Command) {
        self.0 |= command.redirections.iter().any(|one| one.operator == "<<<");
        if let Kind::Simple(simple) = &command.kind {
            let says = |text: &str| PRINTERS.contains(&text) || text.contains("$(") || text.contains('`');
            self.0 |= simple.words.iter().any(|word| text(word).is_some_and(says));
        }
    }
}
