//! How a call was closed.

use std::time::Duration;

use runward_model::{Captured, Ending, Outcome};
use serde::{Deserialize, Serialize};

use crate::CallId;

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
    /// The limit that it ran into, if the kernel told.
    pub limit_hit: Option<String>,
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
            limit_hit: outcome.limit_hit.map(|limit| limit.to_string()),
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

impl From<&Captured> for Output {
    fn from(captured: &Captured) -> Self {
        let kept = captured.head.len() + captured.tail.len();
        Output { bytes: captured.missing.saturating_add(kept as u64), truncated: captured.missing }
    }
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
