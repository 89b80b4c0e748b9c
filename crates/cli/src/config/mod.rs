//! What the program is told: embedded defaults, then a file, then the environment, then flags.
//!
//! `config/default.toml` is the reference: a key exists because it stands there. Each layer replaces values of the one
//! before, whole, and each value keeps its place ([`node`]). What is left is read into the types that follow, by serde
//! ([`read`]): a section is a struct, and a setting one of its fields, with what it holds and within which bounds.

mod approvals;
mod audit;
mod environment;
mod error;
mod fault;
mod fields;
mod file;
mod node;
mod origin;
mod placed;
mod reach;
mod read;
mod rule;
mod rules;
mod sandbox;
mod sections;
mod settings;
mod shell_tool;
mod token;
mod units;
mod usage;

use std::path::{Path, PathBuf};

use approvals::rules_of;
pub(crate) use approvals::{Approvals, rules_file};
pub(crate) use audit::{Audit, Place};
use environment::Variables;
pub(crate) use error::Error;
use fields::choice;
pub(crate) use origin::Origin;
use placed::Placed;
use rules::RuleBook;
use runward_model::ApprovalPolicy;
use runward_policy::PrefixRule;
pub(crate) use sandbox::{NetworkTool, Sandbox};
pub(crate) use sections::{
    Http, Limits, Log, LogFormat, Mcp, Output, Policy, Process, Raw, Secrets, Workflow,
};
use serde::{Deserialize, Deserializer};
use settings::Settings;
pub(crate) use shell_tool::{Inherit, ShellTool};
pub(crate) use token::{Token, checked_name, roles_of};
pub(crate) use usage::temporary_size;

/// What the program is told, checked; nothing in it is optional.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// The file that was read, if one was.
    #[serde(skip)]
    pub(crate) file: Option<PathBuf>,
    /// The tools to offer; empty offers all.
    #[serde(deserialize_with = "tools")]
    pub(crate) tools: Vec<String>,
    /// When people are asked.
    #[serde(deserialize_with = "approval_policy")]
    pub(crate) approval_policy: ApprovalPolicy,
    pub(crate) policy: Policy,
    pub(crate) approvals: Approvals,
    pub(crate) shell_tool: ShellTool,
    pub(crate) limits: Limits,
    pub(crate) output: Output,
    pub(crate) workflow: Workflow,
    pub(crate) http: Http,
    pub(crate) raw: Raw,
    pub(crate) mcp: Mcp,
    pub(crate) process: Process,
    pub(crate) sandbox: Sandbox,
    pub(crate) network_tool: NetworkTool,
    pub(crate) audit: Audit,
    pub(crate) secrets: Secrets,
    pub(crate) log: Log,
    /// Rules of the file.
    #[serde(default)]
    rule: Vec<Placed<rule::Rule>>,
    /// Tokens that the operator gave names.
    #[serde(default, rename = "token")]
    pub(crate) tokens: Vec<Token>,
    /// Everything that the policy judges commands by.
    #[serde(skip)]
    pub(crate) rules: RuleBook,
    /// Rules that people made for commands outside the sandbox.
    #[serde(skip)]
    pub(crate) escalations: Vec<PrefixRule>,
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
        Ok(Config { file, ..Config::read(&settings)? })
    }

    /// Reads and checks what every layer together says.
    fn read(settings: &Settings) -> Result<Self, Error> {
        let mut config = Config::deserialize(settings.to_node())?;
        config.limits.check()?;
        config.shell_tool.check()?;
        config.rules = RuleBook::of(&config)?;
        Ok(config)
    }
}

fn tools<'de, D: Deserializer<'de>>(setting: D) -> Result<Vec<String>, D::Error> {
    let tools = Vec::<String>::deserialize(setting)?;
    let known = [runward_server::tool_names(), vec![runward_server::RAW]].concat();
    match tools.iter().find(|tool| !known.contains(&tool.as_str())) {
        None => Ok(tools),
        Some(unknown) => {
            let what = format!("there is no tool {unknown:?}; the tools are {}", known.join(", "));
            Err(serde::de::Error::custom(what))
        }
    }
}

fn approval_policy<'de, D: Deserializer<'de>>(setting: D) -> Result<ApprovalPolicy, D::Error> {
    choice(setting, &ApprovalPolicy::ALL.map(|policy| (policy.name(), policy)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn with(variables: &[(&str, &str)]) -> Result<Config, String> {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Config::from_layers(None, &variables, &[]).map_err(|error| error.to_string())
    }

    #[test]
    fn without_any_layer_the_defaults_hold() {
        let config = with(&[]).unwrap();
        assert_eq!(*config.limits.default_timeout, Duration::from_secs(30));
        assert_eq!(*config.limits.max_timeout, Duration::from_mins(10));
        assert_eq!(config.limits.output, 1 << 20);
        assert_eq!(config.http.bind, "127.0.0.1:8000".parse().unwrap());
        assert_eq!((config.policy.cwd_roots, config.policy.directory), (vec![], None));
        assert!(config.rules.allowlist.entries().is_empty());
    }

    #[test]
    fn an_empty_variable_counts_as_unset_where_it_would_lift_a_restriction() {
        let mut settings = Settings::defaults().unwrap();
        let file = "policy = { allowed_commands = ['ls'], cwd_roots = ['/srv'] }";
        settings.apply_file(Path::new("x.toml"), file).unwrap();
        let empty = ["ALLOWED_COMMANDS", "ALLOWED_CWD_ROOTS", "RUNWARD_LIMITS_OUTPUT"];
        settings.apply_environment(&empty.map(|name| (name.into(), " ,".into())).into()).unwrap();
        let config = Config::read(&settings).unwrap();
        assert_eq!((config.policy.cwd_roots, config.policy.directory), (vec!["/srv".into()], None));
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
