//! Values that are certain to be numbers, and expressions that are certain not to fail.

use runward_script::{
    AndOr, Argument, Command, Expansion, Item, Kind, Operation, Parameter, Part, Pipeline, Simple, Subscript,
    Word,
};

use super::draft;
use super::walk::Walker;
use super::word::Count;
use crate::variables::is_always_a_number;

/// More words than wrappers and their options can take up in front of a builtin before they are refused as too deep.
pub(crate) const FRONT: usize = 64;

/// More digits than this may not fit.
const MOST_DIGITS: usize = 18;

/// What a variable is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numeric {
    /// A number, for certain.
    Sure,
    /// A number, or the script stops there.
    MayFail,
    /// Anything.
    Text,
}

/// Whether bash reads this as the decimal number that it looks like.
pub(super) fn is_plain(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.starts_with('0') || digits == "0";
    !digits.is_empty() && digits.len() <= MOST_DIGITS && plain && digits.bytes().all(|b| b.is_ascii_digit())
}

/// `{1..5}`
fn is_plain_range(text: &str) -> bool {
    let ends = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    ends.is_some_and(|ends| {
        let parts: Vec<&str> = ends.split("..").collect();
        matches!(parts.len(), 2 | 3) && parts.iter().all(|part| is_plain(part))
    })
}

/// Whether every word that this one becomes is a number.
pub(super) fn are_numbers(word: &Word) -> bool {
    match word.parts.as_slice() {
        [Part::Literal(text)] => is_plain(text),
        [Part::Bare(text)] => is_plain(text) || is_plain_range(text),
        // Arrays whose keys are texts are not read.
        [Part::Expansion { expansion: Expansion::Keys(name, '@'), .. }] => !name.starts_with("BASH"),
        _ => false,
    }
}

/// `$(printf %d "$x")`: bash's own `printf` makes a number of whatever it is given, and evaluates nothing.
pub(super) fn prints_number(expansion: &Expansion) -> bool {
    let Expansion::Output(list) = expansion else { return false };
    let [
        Item {
            and_or: AndOr { first: Pipeline { timed: None, negated: false, first, rest }, rest: others },
            background: false,
        },
    ] = list.as_slice()
    else {
        return false;
    };
    let Command { kind: Kind::Simple(Simple { assignments, words }), redirections, .. } = first else {
        return false;
    };
    let alone = rest.is_empty() && others.is_empty() && assignments.is_empty() && redirections.is_empty();
    let [Argument::Word(name), Argument::Word(format), Argument::Word(value)] = words.as_slice() else {
        return false;
    };
    let is = |word: &Word, text: &str| matches!(word.parts.as_slice(), [Part::Literal(literal)] if literal == text);
    alone && is(name, "printf") && is(format, "%d") && draft::known(value).count() == Count::One
}

impl Walker<'_> {
    /// Whether a word is the value of a variable that holds a number.
    pub(super) fn is_number(&self, word: &Word) -> bool {
        matches!(
            word.parts.as_slice(),
            [Part::Expansion { expansion: expansion @ Expansion::Parameter(_, None), .. }] if self.is_sure(expansion)
        )
    }

    /// What a variable is given that is given this word.
    pub(super) fn numeric(&self, word: &Word) -> Numeric {
        match word.parts.as_slice() {
            [Part::Literal(text) | Part::Bare(text)] if is_plain(text) => Numeric::Sure,
            [Part::Expansion { expansion: Expansion::Arithmetic(expression), .. }] => {
                if self.is_certain(expression) { Numeric::Sure } else { Numeric::MayFail }
            }
            [Part::Expansion { expansion, .. }] if self.is_sure(expansion) || prints_number(expansion) => {
                Numeric::Sure
            }
            [Part::Expansion { expansion: Expansion::Length(_), .. }] => Numeric::MayFail,
            _ => Numeric::Text,
        }
    }

    /// Whether an expansion is a number, for certain.
    pub(super) fn is_sure(&self, expansion: &Expansion) -> bool {
        let plain =
            |parts: &[Part]| matches!(parts, [Part::Literal(text) | Part::Bare(text)] if is_plain(text));
        match expansion {
            Expansion::Length(Parameter { subscript, .. }) => !matches!(subscript, Some(Subscript::One(_))),
            Expansion::Parameter(Parameter { name, subscript: None }, operation) => {
                let special = matches!(name.as_str(), "?" | "#" | "$" | "!");
                let number = special || self.holds_number(name);
                let same = match operation {
                    None => true,
                    Some(Operation::Operand(sign, parts)) => {
                        matches!(sign.as_str(), ":-" | "-") && plain(parts)
                    }
                    Some(_) => false,
                };
                number && same
            }
            _ => false,
        }
    }

    pub(super) fn holds_number(&self, name: &str) -> bool {
        self.known.holds(name) || is_always_a_number(name)
    }

    /// Whether a variable holds a number and can be given another.
    pub(super) fn counts_on(&self, name: &str) -> bool {
        self.holds_number(name) && !self.is_read_only(name)
    }
}
