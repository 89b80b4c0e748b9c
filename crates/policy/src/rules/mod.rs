//! The layers beyond the allowlist: what is blocked, and rules by the first words of a command.

mod blocked;
mod names;
mod pattern;
mod prefix;
mod shape;
pub(crate) mod spellings;

pub use blocked::Blocked;
pub use pattern::BlockedPattern;
pub use prefix::PrefixRule;

use runward_model::{Decision, Profile};

use crate::SearchPath;
use crate::script::Word;
pub(crate) use shape::Program;

/// The rules of an operator beyond the allowlist.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Commands that may not run.
    pub blocked: Vec<Blocked>,
    /// Texts that no command may have.
    pub patterns: Vec<BlockedPattern>,
    /// What is said of commands by their first words.
    pub prefixes: Vec<PrefixRule>,
}

/// What one layer says of one command.
#[derive(Debug)]
pub(crate) struct Ruling {
    pub(crate) decision: Decision,
    pub(crate) reason: String,
    /// The rule, and where it stands.
    pub(crate) rule: Option<String>,
}

/// Whether a rule is about a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// It is not.
    No,
    /// It may be, depending on words that are only known when it runs.
    Maybe,
    /// It is.
    Yes,
}

impl Rules {
    /// Looks up which files the programs of these rules are.
    pub(crate) fn look_up(&mut self, path: &SearchPath) {
        self.blocked.iter_mut().for_each(|rule| rule.look_up(path));
        self.prefixes.iter_mut().for_each(|rule| rule.look_up(path));
    }

    /// Whether a rule can stop or narrow a command, so that every command has to be read.
    pub(crate) fn restrict(&self) -> bool {
        let stops = |rule: &PrefixRule| rule.decision() != Decision::Allow || rule.profile().is_some();
        !self.blocked.is_empty() || !self.patterns.is_empty() || self.prefixes.iter().any(stops)
    }

    /// The strictest thing that these layers say against a command.
    pub(crate) fn objection(&self, program: &Program<'_>, words: &[Word]) -> Option<Ruling> {
        let blocked = self.blocked.iter().filter_map(|rule| rule.objection(program, words));
        let patterns = self.patterns.iter().filter_map(|rule| rule.objection(words));
        let prefixes = self.prefixes.iter().filter_map(|rule| rule.objection(program, words));
        let mut strictest: Option<Ruling> = None;
        for ruling in blocked.chain(patterns).chain(prefixes) {
            if strictest.as_ref().is_none_or(|found| ruling.decision > found.decision) {
                strictest = Some(ruling);
            }
        }
        strictest
    }

    /// The narrowest sandbox profile that a rule wants for a command.
    pub(crate) fn profile(&self, program: &Program<'_>, words: &[Word]) -> Option<Profile> {
        self.prefixes.iter().filter_map(|rule| rule.narrows(program, words)).min()
    }
}
