//! What a person is asked, and what they may answer.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Decision;

/// What a caller would like beyond what it gets unasked. A person decides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wish {
    /// How it would like its command to be confined.
    pub confinement: Confinement,
    /// Why, in the caller's own words; shown, never trusted.
    pub justification: Option<String>,
    /// The first words of commands that it would like to be allowed for good. Empty is no such wish.
    pub prefix: Vec<String>,
}

/// How tightly a command is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confinement {
    /// As every command is.
    #[default]
    Usual,
    /// Less, because a person said so.
    Escalated,
}

/// Names one question for as long as it is open.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QuestionId(pub String);

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What a person is asked: whether exactly this may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Which question.
    pub id: QuestionId,
    /// The tool or endpoint through which the call came.
    pub door: String,
    /// On whose behalf.
    pub principal: String,
    /// The client's own word for itself, where it gave one.
    pub client: Option<String>,
    /// The work as the caller gave it.
    pub command: String,
    /// The file that would be executed.
    pub program: String,
    /// Exactly what it would be given, its own name first.
    pub argv: Vec<String>,
    /// Where.
    pub directory: String,
    /// The variables that the caller gave, each as `NAME=value`.
    pub variables: Vec<String>,
    /// What it would read, as far as that is worth showing.
    pub input: Option<String>,
    /// Why a person is asked, in one sentence.
    pub reason: String,
    /// How it would be confined.
    pub confinement: Confinement,
    /// Why the caller wants it, in its own words.
    pub justification: Option<String>,
    /// Every command in it, and what the rules say of each.
    pub commands: Vec<Ruled>,
    /// The first words of commands that a person may allow for good, where that is on offer.
    pub prefix: Option<Vec<String>>,
    /// Files that it names and that commands may write: an answer that counts again holds for them as they are now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tied: Vec<String>,
}

/// One command of a question, and what the rules say of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruled {
    /// Its words as far as they are known.
    pub words: Vec<String>,
    /// What the rules say.
    pub decision: Decision,
    /// Why.
    pub reason: String,
    /// The rule that decided, and where it stands.
    pub rule: Option<String>,
}

/// What a person says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Run it this time.
    ApproveOnce,
    /// Run it, and the same again without asking as long as this conversation lasts.
    ApproveForSession,
    /// Run it, and never ask again about commands that begin with the words that were offered.
    AlwaysAllowPrefix,
    /// Do not run it.
    Deny {
        /// What the caller is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
}

impl Answer {
    /// The answer in a word, as records have it.
    pub const fn name(&self) -> &'static str {
        match self {
            Answer::ApproveOnce => "approve_once",
            Answer::ApproveForSession => "approve_for_session",
            Answer::AlwaysAllowPrefix => "always_allow_prefix",
            Answer::Deny { .. } => "deny",
        }
    }
}

/// When a person is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApprovalPolicy {
    /// Never: what would need a person is refused.
    Never,
    /// Where a rule says so, and where a caller asks for more than it gets.
    #[default]
    OnRequest,
    /// Also about everything that no rule allows by name.
    Untrusted,
}

impl ApprovalPolicy {
    /// All, from the strictest.
    pub const ALL: [ApprovalPolicy; 3] =
        [ApprovalPolicy::Never, ApprovalPolicy::OnRequest, ApprovalPolicy::Untrusted];

    /// The name that settings and refusals use.
    pub const fn name(self) -> &'static str {
        match self {
            ApprovalPolicy::Never => "never",
            ApprovalPolicy::OnRequest => "on-request",
            ApprovalPolicy::Untrusted => "untrusted",
        }
    }
}
