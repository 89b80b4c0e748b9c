//! What a script as a whole does that bears on each of its commands.

use std::collections::HashSet;

use crate::builtin_rules::effects;
use crate::script::{Fact, Word};

/// More words than wrappers and their options can take up in front of a builtin before they are refused as too deep.
const FRONT: usize = 64;

/// What a script as a whole does.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// The functions that it defines.
    pub(crate) functions: HashSet<String>,
    /// Whether it changes its directory, so that relative paths are not known.
    pub(crate) moves: bool,
    numbers: HashSet<String>,
    texts: HashSet<String>,
}

impl Survey {
    pub(crate) fn of(facts: &[Fact]) -> Self {
        let mut survey = Survey::default();
        for fact in facts {
            match fact {
                Fact::Command(words) => survey.command(words),
                Fact::Function(name) => {
                    survey.functions.insert(name.clone());
                }
                Fact::Assigned { name, number } => survey.assigned(name, *number),
                Fact::Counted(_) => {}
            }
        }
        survey
    }

    /// Whether every value that this variable is given is a plain integer, and at least one is given.
    pub(crate) fn holds_numbers(&self, name: &str) -> bool {
        self.numbers.contains(name) && !self.texts.contains(name)
    }

    /// Every variable that is given a value.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &String> {
        self.numbers.iter().chain(&self.texts)
    }

    fn command(&mut self, words: &[Word]) {
        self.moves |= words.iter().any(|word| matches!(word.text(), Some("cd" | "pushd" | "popd")));
        // A word near the front may be the command of a wrapper; what it would set is noted wherever it stands.
        for (at, word) in words.iter().enumerate().take(FRONT) {
            let args = words.get(at + 1..).unwrap_or_default();
            let Ok(found) = effects(word, args) else { continue };
            found.assigned.iter().for_each(|(name, number)| self.assigned(name, *number));
        }
    }

    fn assigned(&mut self, name: &str, number: bool) {
        let group = if number { &mut self.numbers } else { &mut self.texts };
        group.insert(name.to_owned());
    }
}
