//! What a script as a whole does that bears on each of its commands.

use std::collections::HashSet;

use crate::builtin_rules::effects;
use crate::facts::{FRONT, Fact, Word};

/// What a script as a whole does.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// The functions that it defines.
    pub(crate) functions: HashSet<String>,
    /// Whether it changes its directory, so that relative paths are not known.
    pub(crate) moves: bool,
    /// Every variable that is given a value.
    pub(crate) variables: HashSet<String>,
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
                Fact::Assigned(name, _) => {
                    survey.variables.insert(name.clone());
                }
                Fact::Counted { .. } | Fact::Input(..) | Fact::Timed => {}
            }
        }
        survey
    }

    fn command(&mut self, words: &[Word]) {
        self.moves |= words.iter().any(|word| matches!(word.text(), Some("cd" | "pushd" | "popd")));
        // A word near the front may be the command of a wrapper; what it would set is noted wherever it stands.
        for (at, word) in words.iter().enumerate().take(FRONT) {
            let args = words.get(at + 1..).unwrap_or_default();
            let Ok(found) = effects(word, args) else { continue };
            self.variables.extend(found.assigned.into_iter().map(|(name, _)| name));
        }
    }
}
