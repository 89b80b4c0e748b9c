//! Commands that may not run.

use runward_model::Decision;

use super::shape::{Program, Shape};
use super::{Fit, Ruling};
use crate::SearchPath;
use crate::facts::Word;
use runward_script::split_plain;

/// A command that may not run, such as `rm -rf`: a program by the name of its file, options in any order and form,
/// and the words that come first.
#[derive(Clone, Debug)]
pub struct Blocked {
    text: String,
    place: String,
    shape: Shape,
}

impl Blocked {
    /// Reads an entry as bash would read a line; `place` says where it stands.
    pub fn parse(text: &str, place: impl Into<String>) -> Result<Self, String> {
        let words = split_plain(text).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| {
            format!("{text:?} is no plain command; write a program and, if you like, options and words")
        })?;
        let shape = Shape::new(words.into_iter().map(|word| vec![word]).collect());
        Ok(Blocked { text: text.to_owned(), place: place.into(), shape })
    }

    /// The entry and where it stands.
    pub(crate) fn title(&self) -> String {
        format!("blocked_commands {:?} ({})", self.text, self.place)
    }

    /// The command, its program first.
    pub(crate) fn words(&self) -> Vec<String> {
        split_plain(&self.text).unwrap_or_default()
    }

    pub(super) fn look_up(&mut self, path: &SearchPath) {
        self.shape.look_up(path);
    }

    pub(super) fn objection(&self, program: &Program<'_>, words: &[Word]) -> Option<Ruling> {
        let Blocked { text, shape, .. } = self;
        let base = program.base;
        let reason = match shape.fits(program, words) {
            Fit::No => return None,
            Fit::Yes => format!("\"{text}\" is blocked by blocked_commands; use another command"),
            Fit::Maybe => format!(
                "this \"{base}\" may turn out to be \"{text}\", which blocked_commands blocks: some of its words are only \
                 known when it runs; write them out, begin paths with ./ or /, or put -- before them"
            ),
        };
        Some(Ruling { decision: Decision::Deny, reason, rule: Some(self.title()) })
    }
}
