//! Numbers of whatever may hold more than a number.
//!
//! Bash evaluates the text of a variable as an expression, and runs what that says. So where a name is not certain to hold a
//! number, what is written in its place is `$(printf %d "$name")`: bash's own `printf` makes a number of any text, says so
//! where that is none, and evaluates nothing. That is done for what a program printed, a file holds or a function is given;
//! a text that the script itself puts there, or that its caller gives, is refused: nobody means it to be evaluated.

mod sources;

use std::collections::HashSet;

use runward_script::{
    AndOr, Argument, Arithmetic, Change, Command, Expansion, Item, Kind, Line, List, Parameter, Part,
    Pipeline, Simple, Token, Word, change,
};

use sources::{Sources, prints_own_text};

use crate::facts::numbers::prints_number;
use crate::facts::walk::Walker;
use crate::facts::whole::Whole;

/// Operators that give a name another value.
const ASSIGNING: [&str; 13] = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "<<=", ">>=", "++", "--"];

/// Expressions and words of `[[ … ]]` that are not certain to be numbers, by where they are.
#[derive(Default)]
pub(in crate::facts) struct Doubts {
    tokens: HashSet<*const Token>,
    words: HashSet<*const Word>,
}

impl Doubts {
    pub(in crate::facts) fn token(&mut self, token: &Token) {
        self.tokens.insert(std::ptr::from_ref(token));
    }

    pub(in crate::facts) fn word(&mut self, word: &Word) {
        self.words.insert(std::ptr::from_ref(word));
    }
}

/// Makes numbers of what the walk through a list finds in doubt.
pub(super) fn make_numbers(list: &mut List) {
    let Ok(whole) = Whole::of(list) else { return };
    let mut walker = Walker::new(Some(&whole));
    // Whoever judges hears of what cannot be known.
    if walker.script(list).is_err() {
        return;
    }
    let doubts = std::mem::take(&mut walker.doubts);
    let sources = Sources::of(list);
    change(list, &mut Numbers { doubts, sources });
}

struct Numbers {
    doubts: Doubts,
    sources: Sources,
}

impl Numbers {
    /// Whether what is in doubt comes from elsewhere.
    fn comes_from_outside(&self, expansion: &Expansion) -> bool {
        match expansion {
            Expansion::Output(_) => !prints_own_text(expansion),
            Expansion::Parameter(Parameter { name, .. }, _) => {
                name.bytes().all(|byte| byte.is_ascii_digit()) || self.sources.are_outside(name)
            }
            _ => false,
        }
    }
}

impl Change for Numbers {
    fn arithmetic(&mut self, Arithmetic { tokens }: &mut Arithmetic) {
        let assigns = |token: Option<&(bool, Token)>| matches!(token, Some((_, Token::Operator(sign))) if ASSIGNING.contains(sign));
        let steps = |token: Option<&(bool, Token)>| matches!(token, Some((_, Token::Operator("++" | "--"))));
        for at in 0..tokens.len() {
            let before = at.checked_sub(1).and_then(|at| tokens.get(at));
            let is_target = assigns(tokens.get(at + 1)) || steps(before);
            let Some((_, token)) = tokens.get_mut(at) else { continue };
            if is_target || !self.doubts.tokens.contains(&std::ptr::from_ref::<Token>(token)) {
                continue;
            }
            let value = match token {
                Token::Name(name) => plain(name),
                Token::Expansion(expansion) => expansion.clone(),
                Token::Number(_) | Token::Operator(_) => continue,
            };
            if self.comes_from_outside(&value) {
                *token = Token::Expansion(as_number(vec![quoted(value)]));
            }
        }
    }

    fn counted(&mut self, word: &mut Word) {
        if !self.doubts.words.contains(&std::ptr::from_ref::<Word>(word)) {
            return;
        }
        let value = match word.parts.as_slice() {
            [Part::Literal(name) | Part::Bare(name)] if runward_script::is_identifier(name) => plain(name),
            [Part::Expansion { expansion, .. }] => expansion.clone(),
            _ => return,
        };
        if self.comes_from_outside(&value) {
            word.parts = vec![quoted(as_number(vec![quoted(value)]))];
        }
    }
}

fn plain(name: &str) -> Expansion {
    Expansion::Parameter(Parameter { name: name.to_owned(), subscript: None }, None)
}

fn quoted(expansion: Expansion) -> Part {
    Part::Expansion { expansion, quoted: true }
}

/// `$(printf %d "…")`, marked as ours by words that nobody wrote.
fn as_number(value: Vec<Part>) -> Expansion {
    let ours = |parts: Vec<Part>| Argument::Word(Word { parts, raw: String::new() });
    let word = |text: &str| ours(vec![Part::Literal(text.to_owned())]);
    let simple = Simple { assignments: Vec::new(), words: vec![word("printf"), word("%d"), ours(value)] };
    let first = Command { line: Line::default(), kind: Kind::Simple(simple), redirections: Vec::new() };
    let first = Pipeline { timed: None, negated: false, first, rest: Vec::new() };
    Expansion::Output(vec![Item { and_or: AndOr { first, rest: Vec::new() }, background: false }])
}

/// The words of a number that was made here: what it was made of.
pub(in crate::facts) fn made_of(expansion: &Expansion) -> Option<&Word> {
    let Expansion::Output(list) = expansion else { return None };
    if !prints_number(expansion) {
        return None;
    }
    let Kind::Simple(Simple { words, .. }) = &list.first()?.and_or.first.first.kind else { return None };
    match words.as_slice() {
        [Argument::Word(name), _, Argument::Word(value)] if name.raw.is_empty() => Some(value),
        _ => None,
    }
}
