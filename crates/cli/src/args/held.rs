//! What `held` takes.

use std::path::PathBuf;

use clap::Args;

/// What `held` takes.
#[derive(Debug, Args)]
pub(crate) struct Held {
    #[command(subcommand)]
    pub(crate) action: Option<HeldAction>,
    /// Answer with JSON, one thing a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What can be done with what is held back.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum HeldAction {
    /// Show what is in it
    Show(Named),
    /// Put it in its place, where it runs code for other programs from now on
    Accept(Named),
    /// Remove it; what is in its place stays as it is
    Discard(Named),
}

/// Which of what is held back.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// Where it belongs, as `held` lists it
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// All of it
    #[arg(long, conflicts_with = "paths")]
    pub(crate) all: bool,
}
