//! The protocol of `/raw`, which server and client share: what is asked for, and what is told of it.
//!
//! A [`Call`] is the body of `POST /raw` and `POST /check`. The answer of the first is a stream of lines, each a JSON
//! object: an [`RawEvent`] and its number, from 0 on. What a command printed may be followed again from any number that is
//! still kept. The answer of the second is [`Checked`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Decision, Ending, Outcome, Signal, Size, Stream, Verdict};

/// The longest time that a caller may ask for, in milliseconds: a day.
const LONGEST: u64 = 86_400_000;

/// The longest time that a command waits for a client that was lost, in milliseconds: an hour.
const LONGEST_RESUME: u64 = 3_600_000;

/// A command to run. What is absent is not sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// A name to look up on the server's search path, or a path.
    #[schemars(length(min = 1), description = "a program, by its name on PATH or by its path")]
    pub executable: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(!skip_serializing_if)]
    pub args: Vec<String>,
    /// The directory to run in; the server's own when absent or empty.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(!skip_serializing_if)]
    pub cwd: Option<String>,
    /// Variables beyond those that every command gets.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(!skip_serializing_if)]
    pub env: BTreeMap<String, String>,
    /// What its standard input is.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(!skip_serializing_if)]
    pub stdin: Stdin,
    /// When to stop it, in milliseconds; 0 is when the server's settings say.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(!skip_serializing_if, range(max = LONGEST))]
    pub timeout_ms: u64,
    /// Whether it goes on without its client.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(!skip_serializing_if)]
    pub detach: bool,
    /// For how long it waits, in milliseconds, for a client whose connection was lost; 0 is not at all. Such a client
    /// has to say what has arrived, as nothing else is kept for it.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(!skip_serializing_if, range(max = LONGEST_RESUME))]
    pub resume_ms: u64,
    /// The name of a workspace: requests that name the same one share temporary files and a loopback.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(!skip_serializing_if)]
    pub workspace: Option<String>,
    /// The terminal to run on.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(!skip_serializing_if)]
    pub tty: Option<Size>,
}

/// What a command's standard input is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stdin {
    /// At its end from the beginning.
    #[default]
    None,
    /// What is sent later.
    Stream,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// An event and its number: one line of the stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawLine<'a> {
    /// Grows by one from event to event.
    pub seq: u64,
    /// What is told.
    #[serde(flatten, borrow)]
    pub event: RawEvent<'a>,
}

/// What is told of a command. The first is `start`, the last `exit` or `error`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum RawEvent<'a> {
    /// It runs.
    Start {
        /// Its name, by which a client comes back to it.
        #[serde(borrow)]
        session: Cow<'a, str>,
        /// Its first process; 0 where there is none.
        #[serde(default)]
        pid: i32,
    },
    /// It printed something on descriptor 1.
    Stdout {
        /// What, in base64.
        #[serde(borrow)]
        data_b64: Cow<'a, str>,
    },
    /// It printed something on descriptor 2.
    Stderr {
        /// What, in base64.
        #[serde(borrow)]
        data_b64: Cow<'a, str>,
    },
    /// It printed something that is no longer there.
    Gap {
        /// Where.
        stream: Stream,
        /// How many bytes.
        bytes: u64,
    },
    /// It has ended.
    Exit(Exit),
    /// It was lost, or what it printed was: nothing more can be told.
    Error {
        /// Why.
        #[serde(borrow)]
        message: Cow<'a, str>,
    },
    /// Something that a newer server tells; to be passed over.
    #[serde(other)]
    Other,
}

/// How a command ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// With which code; `None` when a signal ended it.
    #[serde(rename = "exitCode")]
    pub code: Option<i32>,
    /// By which signal, by its name.
    #[serde(default, skip_serializing_if = "is_default", with = "by_name")]
    pub signal: Option<Signal>,
    /// Why it was stopped, if it was: `timeout` and the like.
    #[serde(skip_serializing_if = "is_default")]
    pub stopped: Option<String>,
    /// The same in a sentence.
    #[serde(skip_serializing_if = "is_default")]
    pub message: Option<String>,
    /// How many processes it left behind that were ended.
    #[serde(default, skip_serializing_if = "is_default")]
    pub background_ended: u32,
    /// Whether some of its output may be missing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub output_cut: bool,
    /// What the sandbox kept it from, or cannot keep, where there is something to say.
    #[serde(skip_serializing_if = "is_default")]
    pub sandbox: Option<String>,
}

impl RawEvent<'_> {
    /// The last that is told of a command, with what there is to say of its sandbox.
    pub fn end(outcome: &Outcome, sandbox: Option<String>) -> Self {
        let (code, signal) = match outcome.ending {
            Ending::Exited(code) => (Some(code), None),
            Ending::Signaled(signal) => (None, Some(signal)),
            Ending::Lost => return RawEvent::Error { message: Outcome::LOST.into() },
        };
        RawEvent::Exit(Exit {
            code,
            signal,
            stopped: outcome.stopped.map(|reason| reason.name().to_owned()),
            message: outcome.stopped.map(|reason| reason.to_string()),
            background_ended: outcome.tree.ended,
            output_cut: outcome.output_cut,
            sandbox,
        })
    }
}

/// Signals as the protocol names them, such as `SIGTERM`; one that is not known is none.
mod by_name {
    use super::{Cow, Deserialize, Deserializer, Serializer, Signal};

    #[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(super) fn serialize<S: Serializer>(signal: &Option<Signal>, to: S) -> Result<S::Ok, S::Error> {
        match signal {
            Some(signal) => to.collect_str(signal),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Signal>, D::Error> {
        let name: Option<Cow<'_, str>> = Deserialize::deserialize(from)?;
        Ok(name.and_then(|name| Signal::named(&name)))
    }
}

/// What would become of a call; nothing was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checked {
    /// Whether it would run unasked.
    pub allowed: bool,
    /// The same for those who may ask a person.
    pub decision: Decision,
    /// Why, or why not.
    pub reason: String,
    /// The file that would be executed.
    pub path: Option<String>,
    /// The SHA-256 of that file, in hexadecimal digits.
    pub hash: Option<String>,
    /// What the policy says of every command in it.
    #[serde(skip_deserializing)]
    pub policy: Verdict,
}
