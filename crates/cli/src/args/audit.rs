//! What `audit` takes.

use std::num::NonZeroUsize;

use clap::Args;
use regex::Regex;
use runward_audit::{BadTime, Filter, Time};

use crate::help;

/// What can be done with the audit trail.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Audit {
    /// Show calls, the newest first
    #[command(after_help = help::AUDIT_LIST)]
    List(List),
    /// Show everything that is recorded of one call
    Show(Show),
    /// Find out whether a record was edited, removed or reordered
    #[command(after_help = help::AUDIT_VERIFY)]
    Verify(Verify),
    /// Write records to standard output, the oldest first, one JSON object a line
    #[command(after_help = help::AUDIT_EXPORT)]
    Export(Export),
}

/// What `audit list` takes.
#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// Show at most so many
    #[arg(long, value_name = "N", default_value = "50")]
    pub(crate) limit: NonZeroUsize,
    /// Answer with JSON, one call a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `audit show` takes.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The call, as `audit list` names it
    pub(crate) call: String,
    /// Answer with JSON, one record a line, exactly as it was written
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `audit verify` takes.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Answer with JSON: clean, records, head, and each fault
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `audit export` takes.
#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) choice: Choice,
}

/// Which calls.
#[derive(Debug, Args)]
pub(crate) struct Choice {
    /// Only calls since then: an age such as 2h or 7d, a date, or a time such as 2026-01-31T08:00:00Z
    #[arg(long, value_name = "WHEN", value_parser = since)]
    since: Option<Time>,
    /// Only calls by the client of this name
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// Only calls that were refused
    #[arg(long)]
    denied: bool,
    /// Only calls whose command, program, directory or reason this regular expression finds
    #[arg(long, value_name = "PATTERN")]
    grep: Option<Regex>,
}

impl Choice {
    /// The same as the trail takes it.
    pub(crate) fn into_filter(self) -> Filter {
        let Choice { since, client, denied, grep } = self;
        Filter { since, client, denied, grep, ..Filter::default() }
    }
}

fn since(text: &str) -> Result<Time, BadTime> {
    Time::since(text, Time::now())
}
