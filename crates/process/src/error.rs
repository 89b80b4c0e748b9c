//! Why a process could not be started.

use std::io;

use runward_model::wire::{Step, WireError};
use thiserror::Error;

/// Why a process could not be started.
#[derive(Debug, Error)]
pub enum Error {
    /// The runner itself did not start.
    #[error("the runner could not be started: {0}")]
    Runner(#[source] io::Error),
    /// The runner went away before it answered.
    #[error("the runner ended before it answered")]
    RunnerGone,
    /// The runner does not answer; it has been replaced.
    #[error("the runner did not answer and was replaced; try again")]
    RunnerStuck,
    /// Pipes could not be made.
    #[error("no pipes for the command: {0}")]
    Pipes(#[source] io::Error),
    /// The launch does not fit the wire.
    #[error("the command cannot be sent to the runner: {0}")]
    Wire(#[from] WireError),
    /// The runner tried and failed.
    #[error("{}: {source}", describe(*.step))]
    Step {
        /// At which step.
        step: Step,
        /// The system's reason.
        source: io::Error,
    },
}

fn describe(step: Step) -> &'static str {
    match step {
        Step::Contain => "no containment for the command",
        Step::Limit => "its limits cannot be applied",
        Step::Clone => "no process for the command",
        Step::Cwd => "its directory cannot be entered",
        Step::Stdio => "its descriptors cannot be put in place",
        Step::Confine => "it cannot be confined",
        Step::Exec => "it cannot be executed",
    }
}
