//! Variables that a script gives one plain text, once and for all: `PY=python3; $PY -c …` is `python3 -c …`.

use std::collections::{HashMap, HashSet};

use runward_script::{
    AndOr, Argument, Assigned, Assignment, Change, Command, Connector, Expansion, Item, Kind, List,
    Parameter, Part, Pipeline, Simple, Word, change,
};

use super::text;
use crate::facts::draft;
use crate::variables::{is_always_a_number, is_never_a_number};

/// Longer texts stay where they are.
const LONGEST: usize = 256;

/// More places than this are not filled in.
const MOST: usize = 512;

/// What a variable holds from some point on.
#[derive(Clone)]
enum Constant {
    /// A text.
    Text(String),
    /// The elements of an array.
    Array(Vec<String>),
    /// The way to this program, wherever it is.
    Program(String),
}

/// Puts constants in the places of their variables, wherever the script comes by after the assignment.
pub(super) fn fill_in(list: &mut List) {
    let mut seen = Seen::default();
    change(list, &mut seen);
    let mut filler = Filler { constants: HashMap::new(), left: MOST };
    for item in list {
        let mut one = std::slice::from_mut(item).to_vec();
        change(&mut one, &mut filler);
        if let Some(filled) = one.pop() {
            *item = filled;
        }
        for (name, constant) in given(item) {
            if seen.is_given_once(&name) {
                filler.constants.insert(name, constant);
            }
        }
    }
}

/// How often each name is given a value, or may be.
#[derive(Default)]
struct Seen {
    assigned: HashMap<String, usize>,
    mentioned: HashSet<String>,
}

impl Seen {
    fn is_given_once(&self, name: &str) -> bool {
        let own =
            is_always_a_number(name) || is_never_a_number(name) || matches!(name, "PATH" | "IFS" | "HOME");
        !own && self.assigned.get(name) == Some(&1) && !self.mentioned.contains(name)
    }

    fn assigned(&mut self, Assignment { name, .. }: &Assignment) {
        *self.assigned.entry(name.clone()).or_default() += 1;
    }
}

impl Change for Seen {
    fn command(&mut self, command: &mut Command) {
        match &command.kind {
            Kind::For(name, ..) | Kind::Coprocess(Some(name), _) => {
                self.mentioned.insert(name.clone());
            }
            Kind::Simple(Simple { assignments, words }) => {
                for assignment in assignments {
                    self.assigned(assignment);
                }
                for word in words {
                    match word {
                        Argument::Assignment(assignment) => self.assigned(assignment),
                        // It may be the name that a builtin sets, alone or behind `-v`.
                        Argument::Word(_) => {
                            let text = text(word).unwrap_or_default();
                            let name = text.split(['=', '+', '[']).next().unwrap_or_default();
                            self.mentioned
                                .extend([text, name].map(|name| name.trim_start_matches("-v").to_owned()));
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn arithmetic(&mut self, expression: &mut runward_script::Arithmetic) {
        let names = expression.tokens.iter().filter_map(|(_, token)| match token {
            runward_script::Token::Name(name) => Some(name.clone()),
            _ => None,
        });
        self.mentioned.extend(names);
    }
}

/// What an entry of a script certainly gives to variables, if it runs to its end.
fn given(Item { and_or, background }: &Item) -> Vec<(String, Constant)> {
    let AndOr { first, rest } = and_or;
    let sure = !background && rest.iter().all(|(connector, _)| *connector == Connector::And);
    let pipelines = std::iter::once(first).chain(rest.iter().map(|(_, pipeline)| pipeline));
    pipelines.filter(|_| sure).flat_map(given_by).collect()
}

fn given_by(Pipeline { negated, first, rest, .. }: &Pipeline) -> Vec<(String, Constant)> {
    let Kind::Simple(Simple { assignments, words }) = &first.kind else { return Vec::new() };
    if *negated || !rest.is_empty() || !first.redirections.is_empty() {
        return Vec::new();
    }
    let declares = words.first().and_then(text).is_some_and(|name| matches!(name, "export" | "readonly"));
    let exported = words.iter().filter(|_| declares).filter_map(|word| match word {
        Argument::Assignment(assignment) => Some(assignment),
        Argument::Word(_) => None,
    });
    assignments.iter().filter(|_| words.is_empty()).chain(exported).filter_map(constant).collect()
}

fn constant(Assignment { name, subscript, appends, value }: &Assignment) -> Option<(String, Constant)> {
    if subscript.is_some() || *appends {
        return None;
    }
    let known =
        |word: &Word| draft::known(word).text().filter(|text| text.len() <= LONGEST).map(str::to_owned);
    let constant = match value {
        Assigned::Word(word) => match found(word) {
            Some(program) => Constant::Program(program),
            None => Constant::Text(known(word)?),
        },
        Assigned::Array(words) => Constant::Array(words.iter().map(known).collect::<Option<_>>()?),
    };
    Some((name.clone(), constant))
}

/// `$(command -v python3)`
fn found(word: &Word) -> Option<String> {
    let [Part::Expansion { expansion: Expansion::Output(list), .. }] = word.parts.as_slice() else {
        return None;
    };
    let [Item { and_or: AndOr { first, rest }, background: false }] = list.as_slice() else { return None };
    let Kind::Simple(Simple { assignments, words }) = &first.first.kind else { return None };
    let alone = rest.is_empty() && first.rest.is_empty() && !first.negated && assignments.is_empty();
    let words: Option<Vec<&str>> = words.iter().map(text).collect();
    match words?.as_slice() {
        ["command", "-v", name] | ["which", name] if alone && !name.starts_with('-') => {
            Some((*name).to_owned())
        }
        _ => None,
    }
}

struct Filler {
    constants: HashMap<String, Constant>,
    /// How many more places may be filled in.
    left: usize,
}

impl Change for Filler {
    fn command(&mut self, command: &mut Command) {
        let Kind::Simple(Simple { words, .. }) = &mut command.kind else { return };
        if self.constants.is_empty() {
            return;
        }
        let old = std::mem::take(words);
        for (at, argument) in old.into_iter().enumerate() {
            match argument {
                Argument::Word(word) => {
                    words.extend(self.filled(word, at == 0).into_iter().map(Argument::Word));
                }
                declared @ Argument::Assignment(_) => words.push(declared),
            }
        }
    }
}

impl Filler {
    fn filled(&mut self, mut word: Word, is_name: bool) -> Vec<Word> {
        if let Some(texts) = self.whole(&word, is_name) {
            self.left -= 1;
            return texts.iter().map(|text| Word::literal(text)).collect();
        }
        for part in &mut word.parts {
            if let Some(text) = self.piece(part) {
                self.left -= 1;
                *part = Part::Literal(text);
            }
        }
        vec![word]
    }

    /// What a word becomes that is one variable.
    fn whole(&self, word: &Word, is_name: bool) -> Option<Vec<String>> {
        let [
            Part::Expansion { expansion: Expansion::Parameter(Parameter { name, subscript }, None), quoted },
        ] = word.parts.as_slice()
        else {
            return None;
        };
        let constant = self.constants.get(name).filter(|_| self.left > 0)?;
        match (constant, subscript) {
            (Constant::Text(text), None) if *quoted => Some(vec![text.clone()]),
            (Constant::Text(text), None) if is_split_at_blanks(text) => {
                Some(text.split_whitespace().map(str::to_owned).collect())
            }
            (Constant::Array(words), Some(runward_script::Subscript::All('@')))
                if *quoted || words.iter().all(|word| is_one_word(word)) =>
            {
                Some(words.clone())
            }
            (Constant::Program(program), None) if is_name => Some(vec![program.clone()]),
            _ => None,
        }
    }

    /// What a piece of a word is for certain.
    fn piece(&self, part: &Part) -> Option<String> {
        let Part::Expansion {
            expansion: Expansion::Parameter(Parameter { name, subscript: None }, None),
            quoted,
        } = part
        else {
            return None;
        };
        match self.constants.get(name).filter(|_| self.left > 0)? {
            Constant::Text(text) if *quoted || is_one_word(text) => Some(text.clone()),
            _ => None,
        }
    }
}

/// Whether bash leaves this as it is where it is not quoted.
fn is_one_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c))
}

fn is_split_at_blanks(text: &str) -> bool {
    let mut words = text.split([' ', '\t', '\n']).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(is_one_word)
}
