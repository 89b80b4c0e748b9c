//! The sections of the settings that are small, and the bounds of what they hold.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use runward_engine::Background;
use runward_model::Containment;
use runward_proxy::Reach;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use tracing_subscriber::EnvFilter;

use super::error::Error;
use super::fields::{choice, readers};
use super::placed::Placed;
use super::units;
use super::usage::Amount;

/// Below the least nothing useful fits; above the most, a server could be made to hold more than its machine has.
const SIZES: RangeInclusive<usize> = 1 << 10..=256 << 20;

/// Longer than a day nothing waits.
const DAY: Duration = Duration::from_hours(24);

/// What processes that a command leaves behind can be left to.
const BACKGROUND: [(&str, Background); 3] =
    [("session", Background::Session), ("kill", Background::Kill), ("keep", Background::Keep)];

readers! {
    timeout: Placed<Duration> = placed_duration(Duration::from_millis(1)..=DAY);
    grace: Duration = duration(Duration::ZERO..=Duration::from_mins(1));
    queue: Duration = duration(Duration::ZERO..=Duration::from_mins(5));
    poll: Duration = duration(Duration::from_secs(5)..=DAY);
    sessions: usize = count(1..=4096);
    workspaces: usize = count(0..=4096);
    a_while: Duration = duration(Duration::ZERO..=DAY);
    tokens: usize = count(16..=1_000_000);
    memory: Amount = size_or_auto(0..=1 << 40);
    processes: Amount = count_or_auto(1 << 22);
    some_time: Option<Duration> = some_duration(DAY);
    file_size: Amount = size_or_auto(0..=1 << 50);
    open_files: Option<u64> = some_count(1 << 20);
    buffer: usize = size(SIZES);
    quota: u64 = size(1 << 20..=1 << 50);
    days: Duration = duration(Duration::from_mins(1)..=Duration::from_hours(24 * 365));
    path: Option<PathBuf> = path();
    pause: Duration = duration(Duration::from_millis(100)..=Duration::from_hours(1));
    connections: usize = count(4..=65_536);
    address: SocketAddr = address();
    raw_network: Reach = reach("raw.network");
    heartbeat: Duration = duration(Duration::from_secs(1)..=Duration::from_mins(10));
    patience: Duration = duration(Duration::from_secs(1)..=DAY);
    background: Background = choice(&BACKGROUND);
    log_format: LogFormat = choice(&[("text", LogFormat::Text), ("json", LogFormat::Json)]);
}

/// Where commands may run, and what decides about them.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Policy {
    /// As written, to be read with the list of `[shell_tool]`.
    pub(super) allowed_commands: Placed<Vec<String>>,
    /// As written: they are resolved for each call, so that one that vanishes refuses the call.
    pub(crate) cwd_roots: Vec<PathBuf>,
    /// Rules in Rego.
    #[serde(deserialize_with = "directory")]
    pub(crate) directory: Option<PathBuf>,
}

/// How long and how much.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    #[serde(deserialize_with = "timeout")]
    pub(crate) default_timeout: Placed<Duration>,
    #[serde(deserialize_with = "timeout")]
    pub(crate) max_timeout: Placed<Duration>,
    #[serde(deserialize_with = "buffer")]
    pub(crate) output: usize,
    #[serde(deserialize_with = "sessions")]
    pub(crate) sessions: usize,
    #[serde(deserialize_with = "grace")]
    pub(crate) kill_grace: Duration,
    #[serde(deserialize_with = "grace")]
    pub(crate) shutdown_grace: Duration,
    #[serde(deserialize_with = "grace")]
    pub(crate) drain_grace: Duration,
    #[serde(deserialize_with = "queue")]
    pub(crate) queue_wait: Duration,
    #[serde(deserialize_with = "sessions")]
    pub(crate) kept_sessions: usize,
    #[serde(deserialize_with = "poll")]
    pub(crate) longest_poll: Duration,
    #[serde(deserialize_with = "tokens")]
    pub(crate) reply_tokens: usize,
    #[serde(deserialize_with = "memory")]
    pub(super) memory: Amount,
    #[serde(deserialize_with = "processes")]
    pub(super) processes: Amount,
    #[serde(deserialize_with = "some_time")]
    pub(super) cpu_time: Option<Duration>,
    #[serde(deserialize_with = "file_size")]
    pub(super) file_size: Amount,
    #[serde(deserialize_with = "open_files")]
    pub(super) open_files: Option<u64>,
}

/// Where and for how long whole outputs are kept.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Output {
    /// `None` is the usual place.
    #[serde(deserialize_with = "path")]
    pub(crate) directory: Option<PathBuf>,
    #[serde(deserialize_with = "quota")]
    pub(crate) quota: u64,
    #[serde(deserialize_with = "days")]
    pub(crate) keep: Duration,
}

/// What a run can do to others.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Workflow {
    /// The file that stops everything while it exists; `None` is the usual place.
    #[serde(deserialize_with = "path")]
    pub(crate) abort_file: Option<PathBuf>,
}

/// How HTTP is served.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Http {
    #[serde(deserialize_with = "address")]
    pub(crate) bind: SocketAddr,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) allowed_origins: Vec<String>,
    #[serde(deserialize_with = "buffer")]
    pub(crate) max_body: usize,
    /// How long the head of a request may take.
    #[serde(deserialize_with = "pause")]
    pub(crate) head_timeout: Duration,
    /// How long the body of a request may stand still.
    #[serde(deserialize_with = "pause")]
    pub(crate) body_timeout: Duration,
    /// How long a connection may be silent whose client was not let in yet.
    #[serde(deserialize_with = "pause")]
    pub(crate) idle_timeout: Duration,
    #[serde(deserialize_with = "connections")]
    pub(crate) max_connections: usize,
}

/// The streaming endpoint.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Raw {
    /// How long a command may run when its caller does not say; `None` is for as long as it likes.
    #[serde(deserialize_with = "some_time")]
    pub(crate) timeout: Option<Duration>,
    #[serde(deserialize_with = "raw_network")]
    pub(crate) network: Reach,
    /// How many named workspaces each token may have.
    #[serde(deserialize_with = "workspaces")]
    pub(crate) workspaces: usize,
    /// For how long one is kept after its last command.
    #[serde(deserialize_with = "a_while")]
    pub(crate) workspace_keep: Duration,
}

/// How MCP is spoken.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mcp {
    /// How often a silent command reports that it is alive.
    #[serde(deserialize_with = "heartbeat")]
    pub(crate) heartbeat: Duration,
    /// How long a caller that hears of no progress waits before its command goes on without it.
    #[serde(deserialize_with = "patience")]
    pub(crate) patience: Duration,
}

/// What holds processes together.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Process {
    /// What alone may hold process trees together; `None` is the strongest that this host offers.
    #[serde(deserialize_with = "containment")]
    pub(crate) containment: Option<Containment>,
    #[serde(deserialize_with = "background")]
    pub(crate) background: Background,
}

/// What must not be shown.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Secrets {
    /// Whether secret values are taken out of what commands print.
    pub(crate) redact: bool,
    /// Variables that hold secrets although their names do not look so.
    pub(crate) variables: Vec<String>,
}

/// What is logged, and how.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Log {
    #[serde(deserialize_with = "log_format")]
    pub(crate) format: LogFormat,
    /// In the filter language of `tracing`.
    #[serde(deserialize_with = "filter")]
    pub(crate) filter: String,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

impl Limits {
    /// What no field can see by itself.
    pub(super) fn check(&self) -> Result<(), Error> {
        in_order("limits", &self.default_timeout, &self.max_timeout)
    }
}

/// Whether the default timeout of a section is at most its longest one.
pub(super) fn in_order(
    section: &str,
    default: &Placed<Duration>,
    max: &Placed<Duration>,
) -> Result<(), Error> {
    if default.value <= max.value {
        return Ok(());
    }
    let origin = if default.origin.is_default() { &max.origin } else { &default.origin };
    let (default, max) = (units::show_duration(default.value), units::show_duration(max.value));
    let what = format!(
        "{section}.default_timeout ({default}) is longer than {section}.max_timeout ({max}); change either"
    );
    Err(Error::setting(origin, what))
}

/// Relative to the directory that the program was started in.
fn directory<'de, D: Deserializer<'de>>(setting: D) -> Result<Option<PathBuf>, D::Error> {
    let directory = Some(String::deserialize(setting)?).filter(|directory| !directory.is_empty());
    directory.map(std::path::absolute).transpose().map_err(D::Error::custom)
}

fn containment<'de, D: Deserializer<'de>>(setting: D) -> Result<Option<Containment>, D::Error> {
    let known = Containment::ALL.map(|containment| (containment.name(), Some(containment)));
    choice(setting, &[&[("auto", None)], &known[..]].concat())
}

fn filter<'de, D: Deserializer<'de>>(setting: D) -> Result<String, D::Error> {
    let filter = String::deserialize(setting)?;
    EnvFilter::try_new(&filter).map_err(|error| {
        let what = "is not a log filter; write a level such as \"info\", or levels by part such as \"info,rmcp=off\"";
        D::Error::custom(format!("{filter:?} {what} ({error})"))
    })?;
    Ok(filter)
}
