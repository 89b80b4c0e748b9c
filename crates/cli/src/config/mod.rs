//! What the program is told: embedded defaults, then a file, then the environment, then flags.
//!
//! `config/default.toml` is the reference. A key exists because it stands there, its kind is the kind of its
//! default, and [`Config`] is what remains when every layer is on and every value is checked.

mod approvals;
mod audit;
mod environment;
mod error;
mod file;
mod origin;
mod read;
mod rule;
mod rules;
mod sandbox;
mod sections;
mod settings;
mod shell_tool;
mod token;
mod units;
mod value;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use approvals::rules_of;
pub(crate) use approvals::{Approvals, rules_file};
pub(crate) use audit::{Audit, Place};
use environment::Variables;
pub(crate) use error::Error;
pub(crate) use origin::Origin;
use rules::RuleBook;
use runward_engine::Background;
use runward_model::Containment;
use runward_policy::PrefixRule;
pub(crate) use sandbox::Sandbox;
use settings::Settings;
pub(crate) use shell_tool::{Inherit, ShellTool};
pub(crate) use token::{Token, checked_name, roles_of};

/// What the program is told, checked; nothing in it is optional.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// The file that was read, if one was.
    pub(crate) file: Option<PathBuf>,
    /// The tools to offer; empty offers all.
    pub(crate) tools: Vec<String>,
    pub(crate) policy: Policy,
    pub(crate) rules: RuleBook,
    pub(crate) approvals: Approvals,
    /// Rules that people made for commands outside the sandbox.
    pub(crate) escalations: Vec<PrefixRule>,
    pub(crate) shell_tool: ShellTool,
    pub(crate) limits: Limits,
    pub(crate) http: Http,
    pub(crate) output: Output,
    /// The file that stops everything while it exists; `None` is the usual place.
    pub(crate) abort_file: Option<PathBuf>,
    /// How often a silent command reports that it is alive.
    pub(crate) heartbeat: Duration,
    /// How long a caller that hears of no progress waits before its command goes on without it.
    pub(crate) patience: Duration,
    /// What alone may hold process trees together; `None` is the strongest that this host offers.
    pub(crate) containment: Option<Containment>,
    pub(crate) background: Background,
    pub(crate) audit: Audit,
    pub(crate) sandbox: Sandbox,
    /// Whether secret values are taken out of what commands print.
    pub(crate) redact: bool,
    /// Variables that hold secrets although their names do not look so.
    pub(crate) secret_variables: Vec<String>,
    pub(crate) log: Log,
}

/// Where commands may run, and what decides about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Policy {
    /// As written: they are resolved for each call, so that one that vanishes refuses the call.
    pub(crate) cwd_roots: Vec<PathBuf>,
    /// Rules in Rego.
    pub(crate) directory: Option<PathBuf>,
}

/// How long and how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) default_timeout: Duration,
    pub(crate) max_timeout: Duration,
    pub(crate) output: usize,
    pub(crate) sessions: usize,
    pub(crate) kill_grace: Duration,
    pub(crate) shutdown_grace: Duration,
    pub(crate) drain_grace: Duration,
    pub(crate) kept_sessions: usize,
    pub(crate) longest_poll: Duration,
    pub(crate) reply_tokens: usize,
    /// How much each command may use.
    pub(crate) usage: runward_model::Limits,
}

/// Where and for how long whole outputs are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    /// `None` is the usual place.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) quota: usize,
    pub(crate) keep: Duration,
}

/// How HTTP is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Http {
    pub(crate) bind: SocketAddr,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) allowed_origins: Vec<String>,
    pub(crate) max_body: usize,
    /// How long the head of a request may take.
    pub(crate) head_timeout: Duration,
    /// How long the body of a request may stand still.
    pub(crate) body_timeout: Duration,
    /// How long a connection may be silent whose client was not let in yet.
    pub(crate) idle_timeout: Duration,
    pub(crate) max_connections: usize,
    /// How long a command of `/raw` may run when its caller does not say; `None` is for as long as it likes.
    pub(crate) raw_timeout: Option<Duration>,
    /// Tokens that the operator gave names.
    pub(crate) tokens: Vec<Token>,
}

/// What is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Log {
    pub(crate) format: LogFormat,
    /// In the filter language of `tracing`.
    pub(crate) filter: String,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// A flag that sets a setting: its name, the setting's key, the text given.
pub(crate) type Flag<'a> = (&'static str, &'static str, &'a str);

impl Config {
    /// Reads every layer of this process. `file` is what `--config` named.
    pub(crate) fn load(file: Option<&Path>, flags: &[Flag<'_>]) -> Result<Self, Error> {
        let mut config = Self::from_layers(file, &std::env::vars_os().collect(), flags)?;
        if let Some(file) = rules_file(&config.approvals) {
            let granted = rules_of(&file)?;
            config.rules.rules.prefixes.extend(granted.rules);
            config.escalations = granted.escalated;
        }
        Ok(config)
    }

    fn from_layers(file: Option<&Path>, variables: &Variables, flags: &[Flag<'_>]) -> Result<Self, Error> {
        let mut settings = Settings::defaults()?;
        let found = file::read(file, variables)?;
        if let Some((path, text)) = &found {
            settings.apply_file(path, text)?;
        }
        settings.apply_environment(variables)?;
        for (flag, key, text) in flags {
            settings.apply_flag(flag, key, text)?;
        }
        let file = found.and_then(|(path, _)| std::path::absolute(path).ok());
        Ok(Config { file, ..Config::read(&mut settings)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_the_reference_is_read() {
        let mut settings = Settings::defaults().unwrap();
        Config::read(&mut settings).unwrap();
        assert_eq!(settings.keys().collect::<Vec<_>>(), Vec::<&str>::new());
    }

    fn with(variables: &[(&str, &str)]) -> Result<Config, String> {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Config::from_layers(None, &variables, &[]).map_err(|error| error.to_string())
    }

    #[test]
    fn without_any_layer_the_defaults_hold() {
        let config = with(&[]).unwrap();
        assert_eq!(config.limits.default_timeout, Duration::from_secs(30));
        assert_eq!(config.limits.max_timeout, Duration::from_mins(10));
        assert_eq!(config.limits.output, 1 << 20);
        assert_eq!(config.http.bind, "127.0.0.1:8000".parse().unwrap());
        assert_eq!(config.policy, Policy { cwd_roots: vec![], directory: None });
        assert!(config.rules.allowlist.entries().is_empty());
    }

    #[test]
    fn an_empty_variable_counts_as_unset_where_it_would_lift_a_restriction() {
        let mut settings = Settings::defaults().unwrap();
        let file = "policy = { allowed_commands = ['ls'], cwd_roots = ['/srv'] }";
        settings.apply_file(Path::new("x.toml"), file).unwrap();
        let empty = ["ALLOWED_COMMANDS", "ALLOWED_CWD_ROOTS", "RUNWARD_LIMITS_OUTPUT"];
        settings.apply_environment(&empty.map(|name| (name.into(), " ,".into())).into()).unwrap();
        let config = Config::read(&mut settings).unwrap();
        assert_eq!(config.policy, Policy { cwd_roots: vec!["/srv".into()], directory: None });
        assert!(config.rules.allowlist.entries().is_empty());
    }

    #[test]
    fn bounds_are_part_of_the_message() {
        let out_of_bounds = [
            ("RUNWARD_LIMITS_DEFAULT_TIMEOUT", "0s", "0ms is out of bounds; it takes 1ms to 24h"),
            ("RUNWARD_LIMITS_OUTPUT", "3GiB", "3GiB is out of bounds; it takes 1KiB to 256MiB"),
            ("RUNWARD_LIMITS_SESSIONS", "0", "0 is out of bounds; it takes 1 to 4096"),
            ("RUNWARD_LIMITS_SESSIONS", "-3", "-3 is out of bounds; it takes 1 to 4096"),
            ("RUNWARD_LIMITS_KILL_GRACE", "2m", "2m is out of bounds; it takes 0ms to 1m"),
        ];
        for (name, value, message) in out_of_bounds {
            assert_eq!(with(&[(name, value)]).unwrap_err(), format!("{name}: {message}"));
        }
    }

    #[test]
    fn the_default_timeout_is_at_most_the_longest_one() {
        let message = with(&[("RUNWARD_LIMITS_MAX_TIMEOUT", "5s")]).unwrap_err();
        let what = "limits.default_timeout (30s) is longer than limits.max_timeout (5s); change either";
        assert_eq!(message, format!("RUNWARD_LIMITS_MAX_TIMEOUT: {what}"));
        let message = with(&[("RUNWARD_LIMITS_DEFAULT_TIMEOUT", "1h")]).unwrap_err();
        assert!(
            message.starts_with("RUNWARD_LIMITS_DEFAULT_TIMEOUT: limits.default_timeout (1h)"),
            "{message}"
        );
    }
}
