//! The section `[shell_tool]`.

use std::path::PathBuf;
use std::time::Duration;

use runward_policy::Given;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::error::Error;
use super::fields::{readers, within};
use super::placed::Placed;
use super::sections::in_order;
use super::units;

/// What callers may give.
const GIVEN: [(&str, Given); 2] = [("open", Given::Open), ("listed", Given::Listed)];

/// What commands get.
const INHERIT: [(&str, Inherit); 3] =
    [("core", Inherit::Core), ("all", Inherit::All), ("none", Inherit::None)];

readers! {
    output_size: usize = size(1 << 10..=16 << 30);
    reply_size: usize = size(1 << 10..=16 << 20);
    environment: Given = choice(&GIVEN);
    inherit: Inherit = choice(&INHERIT);
    login_timeout: Duration = duration(Duration::ZERO..=Duration::from_mins(5));
}

/// What the tool `shell` is told by itself, and rules that hold for every tool.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShellTool {
    #[serde(deserialize_with = "timeout")]
    pub(crate) default_timeout: Placed<Duration>,
    #[serde(deserialize_with = "timeout")]
    pub(crate) max_timeout: Placed<Duration>,
    #[serde(deserialize_with = "output_size")]
    pub(crate) max_output_size: usize,
    /// What of it a reply shows.
    #[serde(deserialize_with = "reply_size")]
    pub(crate) reply_size: usize,
    /// As written, to be read with the list of `[policy]`.
    pub(super) allowed_commands: Placed<Vec<String>>,
    /// As written.
    pub(super) blocked_commands: Placed<Vec<String>>,
    /// As written.
    pub(super) blocked_patterns: Placed<Vec<String>>,
    /// As written; they are resolved for each call.
    pub(crate) allowed_directories: Vec<PathBuf>,
    pub(crate) log_commands: bool,
    /// Which variables callers may give.
    #[serde(deserialize_with = "environment")]
    pub(crate) environment: Given,
    /// Patterns for names.
    pub(crate) environment_allow: Vec<String>,
    /// Patterns for names.
    pub(crate) environment_deny: Vec<String>,
    #[serde(rename = "inherit_environment", deserialize_with = "inherit")]
    pub(crate) inherit: Inherit,
    /// Patterns for names that belong to the core, besides those that are always in it.
    pub(crate) inherit_core: Vec<String>,
    /// Patterns for names.
    pub(crate) inherit_also: Vec<String>,
    /// How long start-up files may take; zero captures nothing.
    #[serde(deserialize_with = "login_timeout")]
    pub(crate) login_timeout: Duration,
}

/// Which of the server's own variables commands get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inherit {
    /// Those that most programs expect.
    Core,
    /// All that do not look like secrets.
    All,
    /// None.
    None,
}

impl ShellTool {
    /// What no field can see by itself.
    pub(super) fn check(&self) -> Result<(), Error> {
        in_order("shell_tool", &self.default_timeout, &self.max_timeout)
    }
}

/// Whole seconds: a number of them, or a duration.
fn timeout<'de, D: Deserializer<'de>>(setting: D) -> Result<Placed<Duration>, D::Error> {
    let bounds = Duration::from_secs(1)..=Duration::from_hours(24);
    let read = |written: Seconds| {
        let text = match written {
            Seconds::Number(number) => number.to_string(),
            Seconds::Text(text) => text,
        };
        let duration = within(units::seconds(&text)?, &bounds, |duration| units::show_duration(*duration))?;
        match duration.subsec_millis() {
            0 => Ok(duration),
            _ => Err(format!("{text:?} is no whole number of seconds")),
        }
    };
    Placed::<Seconds>::deserialize(setting)?.try_map(read).map_err(D::Error::custom)
}

/// As it is written.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number of seconds, or a duration in quotes")]
enum Seconds {
    Number(i64),
    Text(String),
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;
    use crate::config::settings::Settings;

    fn with(section: &str) -> Result<ShellTool, String> {
        let mut settings = Settings::defaults().unwrap();
        let text = format!("[shell_tool]\n{section}\n");
        settings.apply_file(Path::new("x.toml"), &text).map_err(|error| error.to_string())?;
        Config::read(&settings).map(|config| config.shell_tool).map_err(|error| error.to_string())
    }

    #[test]
    fn the_defaults_are_those_of_the_specification() {
        let told = with("").unwrap();
        assert_eq!(
            (*told.default_timeout, *told.max_timeout),
            (Duration::from_mins(5), Duration::from_mins(30))
        );
        assert_eq!((told.max_output_size, told.log_commands), (10_000_000, true));
        assert_eq!((told.allowed_directories, told.inherit), (vec![], Inherit::Core));
    }

    #[test]
    fn timeouts_are_seconds_or_durations() {
        let told = with("default_timeout = 60\nmax_timeout = '2h'").unwrap();
        assert_eq!(
            (*told.default_timeout, *told.max_timeout),
            (Duration::from_mins(1), Duration::from_hours(2))
        );
        for (wrong, message) in [
            (
                "default_timeout = 0",
                "x.toml:2: shell_tool.default_timeout: 0ms is out of bounds; it takes 1s to 24h",
            ),
            (
                "default_timeout = '1500ms'",
                "x.toml:2: shell_tool.default_timeout: \"1500ms\" is no whole number of seconds",
            ),
            (
                "default_timeout = 2000",
                "x.toml:2: shell_tool.default_timeout: shell_tool.default_timeout (2000s) is longer than \
                 shell_tool.max_timeout (30m); change either",
            ),
            ("log_commands = 1", "x.toml:2: shell_tool.log_commands: expected true or false, found a number"),
            (
                "inherit_environment = 'some'",
                "x.toml:2: shell_tool.inherit_environment: \"some\" is not one of core, all, none",
            ),
            ("environment = 'none'", "x.toml:2: shell_tool.environment: \"none\" is not one of open, listed"),
        ] {
            assert_eq!(with(wrong).unwrap_err(), message);
        }
    }
}
