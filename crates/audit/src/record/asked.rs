//! What a person was asked, what they answered, and what was typed into a session that they approved.

use runward_model::{Answer, Confinement, Question};
use serde::{Deserialize, Serialize};

use crate::CallId;
use crate::redact::{Secrets, redact_argv, redact_command};

/// A person is asked whether it may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Which call.
    pub call: CallId,
    /// Why.
    pub reason: String,
    /// How it would be confined.
    pub confinement: Confinement,
    /// The caller's own reason, where it gave one.
    pub justification: Option<String>,
    /// The first words that were offered to be allowed for good.
    pub prefix: Option<Vec<String>>,
    /// By which ways people are asked; empty when there is nobody to ask.
    pub ways: Vec<String>,
    /// The host that it wants to reach, where that is the question and it runs already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl Asked {
    /// What this question asks.
    pub fn new(call: CallId, question: &Question, ways: Vec<String>) -> Self {
        let Question { reason, confinement, justification, prefix, .. } = question.clone();
        Asked { call, reason, confinement, justification, prefix, ways, host: None }
    }

    /// The same without these values, wherever they stand.
    #[must_use]
    pub fn without(mut self, secrets: &Secrets) -> Self {
        let clean = |text: &str| secrets.redact_text(text).into_owned();
        self.rewrite(clean, |words| words.iter().map(|word| clean(word)).collect());
        self
    }

    pub(super) fn redacted(mut self) -> Self {
        self.rewrite(|text| redact_command(text).into_owned(), redact_argv);
        self
    }

    fn rewrite(&mut self, text: impl Fn(&str) -> String, words: impl Fn(&[String]) -> Vec<String>) {
        self.reason = text(&self.reason);
        self.justification = self.justification.as_deref().map(&text);
        self.prefix = self.prefix.as_deref().map(words);
    }
}

/// Somebody answered, or something did for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// Which call.
    pub call: CallId,
    /// Who, as far as that is known.
    pub by: String,
    /// What.
    #[serde(flatten)]
    pub answer: Answer,
    /// The host that it wants to reach, where that was the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl Answered {
    /// The same without these values, wherever they stand.
    #[must_use]
    pub fn without(self, secrets: &Secrets) -> Self {
        self.rewrite(|text| secrets.redact_text(text).into_owned())
    }

    pub(super) fn redacted(self) -> Self {
        self.rewrite(|text| redact_command(text).into_owned())
    }

    fn rewrite(mut self, text: impl Fn(&str) -> String) -> Self {
        if let Answer::Deny { note: Some(note) } = &mut self.answer {
            *note = text(note);
        }
        self
    }
}

/// Something was typed into a session that runs with less confinement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    /// Which call.
    pub call: CallId,
    /// What, as text; bytes that are none are shown as well as text can.
    pub text: String,
    /// How many bytes it was, before anything was left out.
    pub bytes: u64,
}

/// More than this of one typing is counted and not kept.
const LONGEST: usize = 16 * 1024;

impl Typed {
    /// Keeps the beginning of what was typed.
    pub fn new(call: CallId, typed: &[u8]) -> Self {
        let kept = typed.get(..LONGEST).unwrap_or(typed);
        let bytes = u64::try_from(typed.len()).unwrap_or(u64::MAX);
        Typed { call, text: String::from_utf8_lossy(kept).into_owned(), bytes }
    }

    /// The same without these values, wherever they stand.
    #[must_use]
    pub fn without(self, secrets: &Secrets) -> Self {
        Typed { text: secrets.redact_text(&self.text).into_owned(), ..self }
    }

    pub(super) fn redacted(self) -> Self {
        Typed { text: redact_command(&self.text).into_owned(), ..self }
    }
}
