//! Texts that no command may have.

use regex::{Regex, RegexBuilder};
use runward_model::{Argv, Decision, Work};

use super::Ruling;
use super::forms::Form;
use crate::facts::Word;

/// The largest compiled pattern, in bytes.
const LARGEST: usize = 1 << 20;

/// A regular expression that no command may match, searched for in its words as a person would type them: joined by
/// single spaces, quoted where needed, the program as it is written, by its name alone, and by the name of its file. A `.`
/// is any character, a newline too.
#[derive(Clone, Debug)]
pub struct BlockedPattern {
    regex: Regex,
    place: String,
}

impl BlockedPattern {
    /// Reads a regular expression; `place` says where it stands.
    pub fn parse(text: &str, place: impl Into<String>) -> Result<Self, String> {
        let regex = RegexBuilder::new(text).dot_matches_new_line(true).size_limit(LARGEST).build();
        let regex =
            regex.map_err(|error| format!("{text:?} is no regular expression: {}", one_line(&error)))?;
        Ok(BlockedPattern { regex, place: place.into() })
    }

    pub(super) fn objection(&self, forms: &[Form<'_>]) -> Option<Ruling> {
        let (text, place) = (self.regex.as_str(), &self.place);
        let reason = if forms.iter().any(|form| self.regex.is_match(&typed(&form.words))) {
            format!("the pattern {text:?} in blocked_patterns blocks this command; use another one")
        } else if forms.iter().any(|form| self.may_match(&form.words)) {
            format!(
                "some words of this command are only known when it runs, and the pattern {text:?} in blocked_patterns may \
                 then match it; write them out"
            )
        } else {
            return None;
        };
        let rule = Some(format!("blocked_patterns {text:?} ({place})"));
        Some(Ruling { decision: Decision::Deny, reason, rule })
    }

    /// Whether a text holds what is blocked, wherever in it.
    pub(super) fn mentions(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Whether a word that is not known could complete the pattern. Only a pattern that is tied to the beginning can
    /// be seen not to match before all of it is known.
    fn may_match(&self, words: &[Word]) -> bool {
        let Some(unknown) = words.iter().position(|word| word.text().is_none()) else { return false };
        let known = words.get(..unknown).unwrap_or_default();
        let beginning =
            known.iter().fold(String::new(), |text, word| text + &typed(std::slice::from_ref(word)) + " ");
        let literal = self.beginning();
        literal.is_none_or(|literal| literal.starts_with(&beginning) || beginning.starts_with(&literal))
    }

    /// What every match begins with, where the pattern is tied to the beginning.
    fn beginning(&self) -> Option<String> {
        let text = self.regex.as_str().strip_prefix('^')?;
        if text.contains('|') {
            return None;
        }
        let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | '/');
        let literal: String = text.chars().take_while(plain).collect();
        let repeats = |c: char| matches!(c, '*' | '?' | '{' | '+');
        match text.chars().nth(literal.chars().count()) {
            // What follows says how often the last character comes.
            Some(next) if repeats(next) => {
                let mut literal = literal;
                literal.pop();
                Some(literal)
            }
            _ => Some(literal),
        }
    }
}

/// The words as a person would type them; one that is not known as it is written.
fn typed(words: &[Word]) -> String {
    let quoted = |word: &Word| match word.text() {
        Some(text) => Work::Argv(Argv { file: text.to_owned(), args: Vec::new() }).to_string(),
        None => word.raw.clone(),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn one_line(error: &regex::Error) -> String {
    let text = error.to_string();
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}
