//! Rules by the first words of a command.

use std::path::{Path, PathBuf};

use runward_model::{Decision, Profile};

use super::shape::{Program, Shape, base_name};
use super::{Fit, Ruling};
use crate::facts::Word;
use crate::{Allowlist, NamedFiles, SearchPath};
use runward_script::split_plain;

/// What is said of commands by their first words. A rule that allows is about exactly these words; one that asks or
/// denies also where options stand between them, since it would be worth little otherwise.
#[derive(Clone, Debug)]
pub struct PrefixRule {
    pattern: Vec<Vec<String>>,
    programs: Allowlist,
    shape: Shape,
    decision: Decision,
    justification: String,
    place: String,
    profile: Option<Profile>,
    tied: Vec<(PathBuf, String)>,
}

impl PrefixRule {
    /// Each part of the pattern is a list of alternatives, the program first; `place` says where the rule stands.
    pub fn new(
        pattern: Vec<Vec<String>>,
        decision: Decision,
        justification: impl Into<String>,
        place: impl Into<String>,
    ) -> Result<Self, String> {
        if pattern.is_empty() || pattern.iter().any(Vec::is_empty) {
            return Err("a pattern needs a program, and every part of it at least one word".into());
        }
        let programs = pattern.first().cloned().unwrap_or_default();
        if let Some(odd) = programs.iter().find(|name| name.is_empty() || *name == "*" || name.contains(','))
        {
            return Err(format!("{odd:?} is no program; write its name or its absolute path"));
        }
        let place = place.into();
        let programs = Allowlist::parse(&programs.join(",")).found_at(place.clone());
        let shape = Shape::new(pattern.clone());
        let (justification, profile, tied) = (justification.into(), None, Vec::new());
        Ok(PrefixRule { pattern, programs, shape, decision, justification, place, profile, tied })
    }

    /// The same, for a rule that allows, only for work that names exactly these files of those that commands may write,
    /// with this SHA-256 each.
    #[must_use]
    pub fn tied_to(self, mut tied: Vec<(PathBuf, String)>) -> Self {
        tied.sort_unstable();
        PrefixRule { tied, ..self }
    }

    /// The files that it is tied to.
    pub fn tied(&self) -> &[(PathBuf, String)] {
        &self.tied
    }

    /// Whether work that names these files is what was approved.
    pub(crate) fn holds_for(&self, files: Option<&NamedFiles>) -> bool {
        self.tied.is_empty() || files.is_some_and(|files| files.tied() == self.tied)
    }

    /// The same, with a sandbox profile that commands it is about are held to; a wider one than theirs changes nothing.
    /// Like an objection, it is also about them where options stand between the words.
    #[must_use]
    pub fn with_profile(self, profile: Option<Profile>) -> Self {
        PrefixRule { profile, ..self }
    }

    /// The sandbox profile that it wants, if it wants one.
    pub fn profile(&self) -> Option<Profile> {
        self.profile
    }

    /// The sandbox profile that it wants for this command.
    pub(super) fn narrows(&self, program: &Program<'_>, words: &[Word]) -> Option<Profile> {
        self.profile.filter(|_| self.shape.fits(program, words) != Fit::No)
    }

    /// What the rule says.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// Whether a plain command is one that the rule is about; an error says why the example is none.
    pub fn is_about(&self, example: &str) -> Result<bool, String> {
        let words = split_plain(example).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| format!("the example {example:?} is no plain command"))?;
        let words: Vec<Word> = words.into_iter().map(Word::known).collect();
        let name = words.first().and_then(Word::text).unwrap_or_default();
        if self.decision == Decision::Allow {
            let nowhere = SearchPath::new("".as_ref());
            return Ok(self.programs.entry_for(name, &nowhere, Some(Path::new("/"))).is_some()
                && self.begins(&words));
        }
        let program = Program { base: base_name(name), file: None };
        Ok(self.shape.fits(&program, &words) == Fit::Yes)
    }

    /// The programs that it is about, as they are written.
    pub(super) fn programs(&self) -> &[String] {
        self.pattern.first().map(Vec::as_slice).unwrap_or_default()
    }

    /// A command that the rule allows, for one that allows.
    pub(crate) fn allowed_line(&self) -> Option<String> {
        let words: Option<Vec<&str>> =
            self.pattern.iter().map(|part| part.first().map(String::as_str)).collect();
        words.filter(|_| self.decision == Decision::Allow).map(|words| words.join(" "))
    }

    /// Commands that the rule is against, for one that asks or denies: each alternative once.
    pub(crate) fn denied_lines(&self) -> Vec<Vec<String>> {
        if self.decision == Decision::Allow {
            return Vec::new();
        }
        let first: Vec<String> = self.pattern.iter().filter_map(|part| part.first().cloned()).collect();
        let others = self
            .pattern
            .iter()
            .enumerate()
            .flat_map(|(at, part)| part.iter().skip(1).map(move |word| (at, word.clone())));
        let varied = others.map(|(at, word)| {
            let mut line = first.clone();
            line.splice(at..=at, [word]);
            line
        });
        std::iter::once(first.clone()).chain(varied.collect::<Vec<_>>()).collect()
    }

    /// The programs of a rule that allows a command with these words.
    pub(crate) fn allowed_programs(&self, words: &[Word]) -> Option<&Allowlist> {
        (self.decision == Decision::Allow && self.begins(words)).then_some(&self.programs)
    }

    pub(super) fn look_up(&mut self, path: &SearchPath) {
        self.shape.look_up(path);
    }

    pub(super) fn objection(&self, program: &Program<'_>, words: &[Word]) -> Option<Ruling> {
        if self.decision == Decision::Allow {
            return None;
        }
        let certain = match self.shape.fits(program, words) {
            Fit::No => return None,
            Fit::Maybe => ", depending on words that are only known when it runs",
            Fit::Yes => "",
        };
        let (shown, why) = (self.shown(), self.why());
        let reason = match self.decision {
            Decision::Ask => format!("the rule {shown} wants a person to approve this command{certain}{why}"),
            _ => format!("the rule {shown} denies this command{certain}{why}"),
        };
        Some(Ruling { decision: self.decision, reason, rule: Some(self.title()) })
    }

    /// The rule and where it stands.
    pub(crate) fn title(&self) -> String {
        format!("rule {} ({})", self.shown(), self.place)
    }

    fn begins(&self, words: &[Word]) -> bool {
        let fits = |(part, word): (&Vec<String>, &Word)| {
            word.text().is_some_and(|text| part.iter().any(|p| p == text))
        };
        words.len() >= self.pattern.len() && self.pattern.iter().zip(words).skip(1).all(fits)
    }

    fn shown(&self) -> String {
        let part = |part: &Vec<String>| match part.as_slice() {
            [one] => format!("{one:?}"),
            several => format!("{several:?}"),
        };
        format!("[{}]", self.pattern.iter().map(part).collect::<Vec<_>>().join(", "))
    }

    fn why(&self) -> String {
        if self.justification.is_empty() { String::new() } else { format!(": {}", self.justification) }
    }
}
