//! What `approvals` takes.

use clap::Args;
use runward_model::Answer;

/// What can be done with questions that are open.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Approvals {
    /// Show every question that waits for an answer
    List(ListApprovals),
    /// Let a command run
    Allow(Allow),
    /// Refuse a command
    Deny(Deny),
}

/// What `approvals list` takes.
#[derive(Debug, Args)]
pub(crate) struct ListApprovals {
    /// Answer with JSON, one question a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `approvals allow` takes.
#[derive(Debug, Args)]
pub(crate) struct Allow {
    /// The question, as `approvals list` names it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Also the same command again, as long as its caller's session lasts
    #[arg(long, conflicts_with = "always")]
    session: bool,
    /// Also everything that begins with the words on offer, for good
    #[arg(long)]
    always: bool,
    /// Answer with JSON: id, answer, and whether it was taken
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `approvals deny` takes.
#[derive(Debug, Args)]
pub(crate) struct Deny {
    /// The question, as `approvals list` names it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// What the caller is told
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Answer with JSON: id, answer, and whether it was taken
    #[arg(long)]
    pub(crate) json: bool,
}

impl Allow {
    /// The answer that the flags mean.
    pub(crate) const fn answer(&self) -> Answer {
        match (self.always, self.session) {
            (true, _) => Answer::AlwaysAllowPrefix,
            (false, true) => Answer::ApproveForSession,
            (false, false) => Answer::ApproveOnce,
        }
    }
}
