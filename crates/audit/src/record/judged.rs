//! What was asked, and what the policy said.

use std::path::{Path, PathBuf};

use runward_model::{Caller, Decision, Verdict};
use serde::{Deserialize, Serialize, Serializer};

use super::bounded::Omitted;
use crate::CallId;
use crate::redact::{Secrets, redact_argv, redact_command};

/// Who asked for what, and what the policy said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// Which call.
    pub call: CallId,
    /// The tool or endpoint through which it came.
    pub door: String,
    /// The client's own word for itself, where it gave one.
    pub client: Option<Client>,
    /// On whose behalf.
    pub principal: String,
    /// The command as given, without secrets.
    pub command: String,
    /// Every command in it that could be read.
    pub commands: Vec<Command>,
    /// The file that was to be executed.
    #[serde(serialize_with = "lossy_option")]
    pub program: Option<PathBuf>,
    /// Where.
    #[serde(serialize_with = "lossy_option")]
    pub directory: Option<PathBuf>,
    /// The names of the variables that it was given.
    pub variables: Vec<String>,
    /// What the policy said; absent when the call was refused before it was asked.
    pub verdict: Option<Ruling>,
    /// What of it was too long to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<Omitted>,
}

impl Judged {
    /// What a caller asked, before anything is known of it.
    pub fn asked(call: CallId, caller: &Caller, command: impl Into<String>) -> Self {
        Judged {
            call,
            door: caller.door.0.to_string(),
            client: caller.client.as_ref().map(Client::from),
            principal: caller.principal.name().to_owned(),
            command: command.into(),
            commands: Vec::new(),
            program: None,
            directory: None,
            variables: Vec::new(),
            verdict: None,
            omitted: None,
        }
    }

    /// The same with what the policy said of it.
    #[must_use]
    pub fn with_verdict(mut self, verdict: &Verdict) -> Self {
        self.commands = verdict.commands.iter().map(Command::from).collect();
        self.verdict = Some(Ruling::from(verdict));
        self
    }

    pub(super) fn redacted(mut self) -> Self {
        self.rewrite(|text| redact_command(text).into_owned(), redact_argv);
        self
    }

    /// The same without these values, wherever they stand.
    #[must_use]
    pub fn without(mut self, secrets: &Secrets) -> Self {
        let clean = |text: &str| secrets.redact_text(text).into_owned();
        self.rewrite(clean, |words| words.iter().map(|word| clean(word)).collect());
        self
    }

    fn rewrite(&mut self, text: impl Fn(&str) -> String, words: impl Fn(&[String]) -> Vec<String>) {
        self.command = text(&self.command);
        for command in &mut self.commands {
            command.words = words(&command.words);
            command.ruling.reason = text(&command.ruling.reason);
        }
        if let Some(verdict) = &mut self.verdict {
            verdict.reason = text(&verdict.reason);
        }
    }
}

/// A client's own word for itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl From<&runward_model::Client> for Client {
    fn from(client: &runward_model::Client) -> Self {
        Client { name: client.name.clone(), version: client.version.clone() }
    }
}

/// One command of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Its words, without secrets.
    pub words: Vec<String>,
    /// The file that its name stands for.
    #[serde(serialize_with = "lossy_option")]
    pub program: Option<PathBuf>,
    /// What the policy said of it.
    #[serde(flatten)]
    pub ruling: Ruling,
}

impl From<&runward_model::Judged> for Command {
    fn from(judged: &runward_model::Judged) -> Self {
        let ruling = Ruling { decision: judged.decision, rule: None, reason: judged.reason.clone() };
        Command { words: judged.words.clone(), program: judged.program.clone(), ruling }
    }
}

/// A decision and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// The decision.
    pub decision: Decision,
    /// The rule that made it, where one did.
    pub rule: Option<String>,
    /// Why, in one sentence.
    pub reason: String,
}

impl From<&Verdict> for Ruling {
    fn from(verdict: &Verdict) -> Self {
        Ruling { decision: verdict.decision, rule: verdict.rule.clone(), reason: verdict.reason.clone() }
    }
}

/// A path that is not text is recorded as well as text can: a record is never refused for it.
#[expect(clippy::ref_option, reason = "serde passes the field by reference")]
fn lossy_option<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_deref().map(Path::to_string_lossy).serialize(serializer)
}
