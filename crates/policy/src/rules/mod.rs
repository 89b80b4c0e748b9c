//! The layers beyond the allowlist: what is blocked, and rules by the first words of a command.

mod blocked;
pub(crate) mod forms;
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
use crate::facts::Word;
use forms::Form;
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

    /// The strictest thing that these layers say against a command, under whichever of its names.
    pub(crate) fn objection(&self, program: &Program<'_>, words: &[Word]) -> Option<Ruling> {
        let forms = forms::of(program, words);
        let blocked = || self.blocked.iter();
        let prefixes = || self.prefixes.iter();
        let by_form = forms.iter().flat_map(|Form { program, words }| {
            let blocked = blocked().filter_map(move |rule| rule.objection(program, words));
            blocked.chain(prefixes().filter_map(move |rule| rule.objection(program, words)))
        });
        let patterns = self.patterns.iter().filter_map(|rule| rule.objection(&forms));
        let mut strictest: Option<Ruling> = None;
        for ruling in by_form.chain(patterns) {
            if strictest.as_ref().is_none_or(|found| ruling.decision > found.decision) {
                strictest = Some(ruling);
            }
        }
        strictest
    }

    /// Whether a text that cannot be read holds the name of a program that a rule is against, or what a pattern blocks.
    pub(crate) fn mention(&self, text: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        let named = |name: &str| text.split(|c: char| !is_part(c)).any(|part| part == name);
        let blocked =
            self.blocked.iter().any(|rule| rule.words().first().is_some_and(|name| named(base(name))));
        let against = |rule: &&PrefixRule| rule.decision() != Decision::Allow || rule.profile().is_some();
        let ruled = self.prefixes.iter().filter(against).flat_map(PrefixRule::programs);
        blocked
            || ruled.into_iter().any(|name| named(base(name)))
            || self.patterns.iter().any(|one| one.mentions(text))
    }

    /// The narrowest sandbox profile that a rule wants for a command.
    pub(crate) fn profile(&self, program: &Program<'_>, words: &[Word]) -> Option<Profile> {
        let forms = forms::of(program, words);
        let narrows = |rule: &PrefixRule| {
            forms.iter().filter_map(|form| rule.narrows(&form.program, &form.words)).min()
        };
        self.prefixes.iter().filter_map(narrows).min()
    }
}

fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
