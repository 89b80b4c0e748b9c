//! What the policy says.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Profile;

/// The strictest of several decisions wins: `Allow < Ask < Deny`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may run.
    Allow,
    /// A person decides.
    Ask,
    /// It may not run; what nobody has judged may not either.
    #[default]
    Deny,
}

/// What the policy says of a piece of work: one entry for each command in it, and one sentence for the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The strictest decision of all.
    pub decision: Decision,
    /// Why, in one sentence; for a denial, what would allow it.
    pub reason: String,
    /// The rule that decided, and where it stands, when a single one did.
    pub rule: Option<String>,
    /// For a denial: the narrowest rule that would allow the work, where there is one.
    pub suggest: Option<String>,
    /// Every command that the work would run, in reading order, as far as it could be read.
    pub commands: Vec<Judged>,
}

/// One command of the work and what the policy says of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The command's words as far as they are known before it runs; an unknown word is shown as written.
    pub words: Vec<String>,
    /// The file that its name stands for on the search path; `None` for builtins and unknown names.
    pub program: Option<PathBuf>,
    /// What the policy says of this one.
    pub decision: Decision,
    /// Why, in one sentence, naming the rule.
    pub reason: String,
    /// The rule that decided, and where it stands.
    pub rule: Option<String>,
    /// The narrowest sandbox profile that rules want for it, where one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
}

impl Verdict {
    /// The narrowest sandbox profile that rules want for any of its commands.
    pub fn profile(&self) -> Option<Profile> {
        self.commands.iter().filter_map(|judged| judged.profile).min()
    }
}
