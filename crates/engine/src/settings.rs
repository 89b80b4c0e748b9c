//! What the engine is told once, at start.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::{ApprovalSettings, Sandboxing};
use runward_audit::Trail;
use runward_model::Limits;
use runward_policy::Rulebook;
pub use runward_spool::Settings as OutputSettings;

use crate::Background;
use crate::workspaces::NamedWorkspaces;
use runward_login::LoginSettings;

/// What the engine is told once, at start. No field is optional: the defaults are in `config/default.toml`.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which commands may run.
    pub policy: Rulebook,
    /// Where commands may run, as configured; empty means anywhere.
    pub cwd_roots: Vec<PathBuf>,
    /// The same in another list: a directory must lie in one of each that is not empty.
    pub allowed_directories: Vec<PathBuf>,
    /// Whether the log tells of each command that starts and ends.
    pub log_commands: bool,
    /// Every variable that a command gets.
    pub environment: Vec<(OsString, OsString)>,
    /// How much of each output is kept, half of it from the beginning and half from the end.
    pub output_limit: usize,
    /// How long a stopped command may take to end by itself before it is killed.
    pub kill_grace: Duration,
    /// The same while the server is shutting down.
    pub shutdown_grace: Duration,
    /// How long outputs that are still open are read after a command has ended.
    pub drain_grace: Duration,
    /// What becomes of processes that a command leaves behind.
    pub background: Background,
    /// How much each command may use.
    pub limits: Limits,
    /// What commands are confined to.
    pub sandboxing: Sandboxing,
    /// Where calls are recorded; `None` records none.
    pub trail: Option<Arc<Trail>>,
    /// Whether values that look secret are taken out of what commands print.
    pub redact: bool,
    /// Values that must not be shown, wherever they come from. Empty when nothing is redacted.
    pub secrets: Vec<Vec<u8>>,
    /// How many commands may run at the same time.
    pub max_sessions: usize,
    /// How long a call waits for its turn when so many run; zero refuses it at once.
    pub queue_wait: Duration,
    /// How many sessions a principal may keep.
    pub max_kept: usize,
    /// Which ports of this host's loopback commands may be reached by.
    pub publish: Vec<RangeInclusive<u16>>,
    /// How many named workspaces there may be, and for how long.
    pub workspaces: NamedWorkspaces,
    /// Where and for how long whole outputs are kept.
    pub output: OutputSettings,
    /// What is done about login shells.
    pub login: LoginSettings,
    /// When and how people are asked.
    pub approvals: ApprovalSettings,
    /// While this file exists, nothing runs.
    pub abort_file: PathBuf,
}
