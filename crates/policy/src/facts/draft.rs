//! From a word of the tree to what is known of its value.

use runward_script::{Assigned, Assignment, Expansion, Operation, Parameter, Part, Subscript, Word as Tree};

use super::word::{Count, Value, Word};

/// A word as far as it has been looked at.
#[derive(Default)]
struct Draft {
    text: String,
    /// Everything before the first unknown piece; `None` while all is known.
    prefix: Option<String>,
    count: Option<Count>,
    pieces: usize,
    numbers: usize,
    brace: bool,
    comma_or_range: bool,
    brackets: usize,
    last_bare: Option<char>,
}

/// What is known of a word.
pub(super) fn known(word: &Tree) -> Word {
    let mut draft = Draft::default();
    word.parts.iter().for_each(|part| draft.part(part));
    draft.finish(&word.raw)
}

/// What is known of an assignment that a declaring builtin is given. Bash leaves it whole.
pub(super) fn declared(assignment: &Assignment) -> Word {
    let Assignment { name, subscript, appends, value } = assignment;
    let element = if subscript.is_some() { "[…]" } else { "" };
    let sign = if *appends { "+=" } else { "=" };
    let value = match value {
        // The assignment itself is noted; the word only has to show its name.
        Assigned::Array(_) => {
            return Word { raw: format!("{name}{element}{sign}(…)"), ..Word::known(name) };
        }
        Assigned::Word(value) => known(value),
    };
    let front = format!("{name}{element}{sign}");
    let raw = format!("{front}{}", value.raw);
    let value = match value.value {
        Value::Known(text) => Value::Known(format!("{front}{text}")),
        Value::Unknown { prefix, .. } => {
            Value::Unknown { prefix: format!("{front}{prefix}"), count: Count::One, number: false }
        }
    };
    Word { raw, value, stays_text: false }
}

impl Draft {
    fn part(&mut self, part: &Part) {
        match part {
            Part::Literal(text) => self.quoted(text),
            Part::Dollar => self.quoted("$"),
            Part::Bare(text) => {
                let mut letters = text.chars().peekable();
                while let Some(letter) = letters.next() {
                    self.bare(letter, letters.peek().copied());
                }
            }
            Part::Process(..) => self.expanded(Count::One, false),
            Part::Expansion { expansion, quoted } => {
                let number = is_number(expansion);
                // There may have been no job yet, and then this is nothing.
                let vanishes =
                    matches!(expansion, Expansion::Parameter(Parameter { name, .. }, _) if name == "!");
                let several = (!number || vanishes) && (!quoted || is_several(expansion));
                self.expanded(if several { Count::Any } else { Count::One }, number);
            }
        }
    }

    fn quoted(&mut self, text: &str) {
        self.text.push_str(text);
        self.pieces += 1;
        self.last_bare = None;
    }

    fn bare(&mut self, c: char, next: Option<char>) {
        match c {
            '*' | '?' => self.several(Count::Alike),
            '~' if matches!(self.last_bare, Some('=' | ':')) || self.pieces == 0 => self.unknown(),
            '[' => self.brackets += 1,
            '{' => {
                self.brace = true;
                self.comma_or_range |= next != Some('}');
            }
            ',' => self.comma_or_range = true,
            '.' if self.last_bare == Some('.') => self.comma_or_range = true,
            ']' if self.brackets > 0 => self.several(Count::Alike),
            _ => {}
        }
        self.text.push(c);
        self.pieces += 1;
        self.last_bare = Some(c);
    }

    fn several(&mut self, count: Count) {
        self.unknown();
        self.count = self.count.max(Some(count));
    }

    fn unknown(&mut self) {
        // A word of stars alone is as long as its caller likes: looked at once, not once a star.
        if self.prefix.is_some() {
            return;
        }
        // A bracket or brace that came before may already have begun a pattern.
        let certain = self.text.find(['[', '{']).unwrap_or(self.text.len());
        let known = self.text.get(..certain).unwrap_or_default().to_owned();
        self.prefix = Some(known);
    }

    fn expanded(&mut self, count: Count, number: bool) {
        self.several(count);
        self.pieces += 1;
        self.numbers += usize::from(number);
        self.last_bare = None;
    }

    fn finish(mut self, raw: &str) -> Word {
        if self.brace && self.comma_or_range {
            self.several(Count::Alike);
        }
        let number = self.pieces == 1 && self.numbers == 1;
        let value = match self.prefix {
            None => Value::Known(self.text),
            Some(prefix) => Value::Unknown { prefix, count: self.count.unwrap_or(Count::One), number },
        };
        Word { raw: raw.to_owned(), value, stays_text: false }
    }
}

/// Whether an expansion is certain to be a plain integer.
fn is_number(expansion: &Expansion) -> bool {
    match expansion {
        Expansion::Arithmetic(_) | Expansion::Length(_) => true,
        Expansion::Parameter(Parameter { name, .. }, None) => {
            matches!(name.as_str(), "?" | "#" | "$" | "!")
        }
        _ => false,
    }
}

/// Whether an expansion may become several words, or none, even in double quotes.
pub(super) fn is_several(expansion: &Expansion) -> bool {
    match expansion {
        Expansion::Keys(..) | Expansion::Names(..) => true,
        Expansion::Parameter(Parameter { name, subscript }, operation) => {
            let all = name == "@" || matches!(subscript, Some(Subscript::All(_)));
            all || matches!(operation, Some(Operation::Operand(_, parts)) if parts.iter().any(holds_several))
        }
        _ => false,
    }
}

fn holds_several(part: &Part) -> bool {
    matches!(part, Part::Expansion { expansion, .. } if is_several(expansion))
}
