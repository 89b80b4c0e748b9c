//! What goes through the socket: one line of JSON each way.

use std::time::Duration;

use runward_model::{Answer, Question, QuestionId};
use serde::{Deserialize, Serialize};

/// A longer line is not read.
pub(super) const LONGEST: usize = 4 << 20;

/// How long the other side may take for its line.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// What is asked of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum Order {
    /// Which questions are open.
    List,
    /// Answer one.
    Answer {
        /// Which.
        question: QuestionId,
        /// How.
        #[serde(flatten)]
        answer: Answer,
    },
}

/// What it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub(super) enum Report {
    /// These are open.
    Questions {
        /// The server's process.
        server: u32,
        /// Each.
        questions: Vec<Open>,
    },
    /// The answer counts.
    Taken,
    /// There is no such question here, or no longer.
    Unknown,
    /// That is no answer to it.
    Refused {
        /// Why.
        why: String,
    },
}

/// A question that is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// What is asked.
    #[serde(flatten)]
    pub question: Question,
    /// How long it has been.
    pub waiting_seconds: u64,
}
