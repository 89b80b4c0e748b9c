//! What is written down.

use std::path::{Path, PathBuf};
use std::time::Duration;

use runward_model::{Decision, Ending, Outcome, SessionId};
use serde::{Deserialize, Serialize, Serializer};

use crate::redact::{Secrets, redact_argv, redact_command};
use crate::{CallId, Server, Time};

/// One record: when, by which server, what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// When it was written.
    pub time: Time,
    /// By whom.
    pub server: Server,
    /// What.
    #[serde(flatten)]
    pub entry: Entry,
}

/// What a record says. A call has one `judged`, at most one `started`, and one `closed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "lowercase")]
pub enum Entry {
    /// Written before anything runs.
    Judged(Judged),
    /// Its first process executes.
    Started(Started),
    /// The call is over.
    Closed(Closed),
}

impl Entry {
    /// Which call it is about.
    pub fn call(&self) -> &CallId {
        match self {
            Entry::Judged(judged) => &judged.call,
            Entry::Started(started) => &started.call,
            Entry::Closed(closed) => &closed.call,
        }
    }

    /// The same without anything that looks secret. The trail does this to every entry.
    #[must_use]
    pub fn redacted(self) -> Self {
        match self {
            Entry::Judged(judged) => Entry::Judged(judged.redacted()),
            Entry::Closed(Closed { call, closing: Closing::Refused { reason } }) => {
                Closed::refused(call, redact_command(&reason)).into()
            }
            other => other,
        }
    }
}

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
}

impl Judged {
    fn redacted(mut self) -> Self {
        self.rewrite(|text| redact_command(text).into_owned(), |words| redact_argv(words));
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

/// Its first process executes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Which call.
    pub call: CallId,
    /// The session that runs it.
    pub session: SessionId,
    /// The process id of its first process.
    pub pid: i32,
}

/// The call is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closed {
    /// Which call.
    pub call: CallId,
    /// How.
    #[serde(flatten)]
    pub closing: Closing,
}

impl Closed {
    /// It ran.
    pub fn ended(call: CallId, outcome: &Outcome, stdout: Output, stderr: Output) -> Self {
        Closed { call, closing: Closing::Ended(Box::new(Ended::new(outcome, stdout, stderr))) }
    }

    /// Nothing ran.
    pub fn refused(call: CallId, reason: impl Into<String>) -> Self {
        Closed { call, closing: Closing::Refused { reason: reason.into() } }
    }
}

/// How a call was closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Closing {
    /// It ran and ended.
    Ended(Box<Ended>),
    /// Nothing ran.
    Refused {
        /// Why.
        reason: String,
    },
    /// Its server did not live to close it; written by a later one.
    Lost,
}

impl Closing {
    /// Why nothing ran, if nothing did.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Closing::Refused { reason } => Some(reason),
            Closing::Ended(_) | Closing::Lost => None,
        }
    }
}

/// How a run ended and what it cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The exit code that the reply carried.
    pub exit_code: i32,
    /// The signal that ended it, by name.
    pub signal: Option<String>,
    /// Why it was stopped, if it was.
    pub stopped: Option<String>,
    /// From start to end.
    #[serde(rename = "duration_us", with = "microseconds")]
    pub duration: Duration,
    /// Processor time in user code.
    #[serde(rename = "cpu_user_us", with = "microseconds")]
    pub cpu_user: Duration,
    /// Processor time in the kernel.
    #[serde(rename = "cpu_system_us", with = "microseconds")]
    pub cpu_system: Duration,
    /// The largest resident size of any one process, in KiB.
    pub max_rss_kib: u64,
    /// What it printed on descriptor 1.
    pub stdout: Output,
    /// What it printed on descriptor 2.
    pub stderr: Output,
    /// Whether its outputs were still held open when it was given up on.
    pub output_cut: bool,
    /// How many processes it left behind that were then ended.
    pub ended_after: u32,
    /// The processes that could not be ended.
    pub survivors: Vec<i32>,
}

impl Ended {
    fn new(outcome: &Outcome, stdout: Output, stderr: Output) -> Self {
        Ended {
            exit_code: outcome.exit_code(),
            signal: match outcome.ending {
                Ending::Signaled(signal) => Some(signal.to_string()),
                Ending::Exited(_) | Ending::Lost => None,
            },
            stopped: outcome.stopped.map(|reason| reason.to_string()),
            duration: outcome.wall,
            cpu_user: outcome.usage.user,
            cpu_system: outcome.usage.system,
            max_rss_kib: outcome.usage.max_rss_kib,
            stdout,
            stderr,
            output_cut: outcome.output_cut,
            ended_after: outcome.tree.ended,
            survivors: outcome.tree.survivors.clone(),
        }
    }
}

/// How much one output held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// All bytes printed.
    pub bytes: u64,
    /// Those of them that the reply left out.
    pub truncated: u64,
}

impl From<Judged> for Entry {
    fn from(judged: Judged) -> Self {
        Entry::Judged(judged)
    }
}

impl From<Started> for Entry {
    fn from(started: Started) -> Self {
        Entry::Started(started)
    }
}

impl From<Closed> for Entry {
    fn from(closed: Closed) -> Self {
        Entry::Closed(closed)
    }
}

/// A path that is not text is recorded as well as text can: a record is never refused for it.
#[expect(clippy::ref_option, reason = "serde passes the field by reference")]
fn lossy_option<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_deref().map(Path::to_string_lossy).serialize(serializer)
}

mod microseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_micros)
    }
}
