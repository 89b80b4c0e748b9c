//! The section `[shell_tool]`.

use std::path::PathBuf;
use std::time::Duration;

use runward_policy::Given;

use super::error::Error;
use super::sections::in_order;
use super::settings::Settings;

/// What the tool `shell` is told by itself, and rules that hold for every tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShellTool {
    pub(crate) default_timeout: Duration,
    pub(crate) max_timeout: Duration,
    pub(crate) max_output_size: usize,
    /// What of it a reply shows.
    pub(crate) reply_size: usize,
    /// As written; they are resolved for each call.
    pub(crate) allowed_directories: Vec<PathBuf>,
    pub(crate) log_commands: bool,
    /// Which variables callers may give.
    pub(crate) environment: Given,
    /// Patterns for names.
    pub(crate) environment_allow: Vec<String>,
    /// Patterns for names.
    pub(crate) environment_deny: Vec<String>,
    pub(crate) inherit: Inherit,
    /// Patterns for names.
    pub(crate) inherit_also: Vec<String>,
    /// How long start-up files may take; zero captures nothing.
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
    pub(super) fn read(settings: &mut Settings) -> Result<Self, Error> {
        let bounds = Duration::from_secs(1)..=Duration::from_hours(24);
        let default = settings.seconds_from("shell_tool.default_timeout", bounds.clone())?;
        let max = settings.seconds_from("shell_tool.max_timeout", bounds)?;
        let (default_timeout, max_timeout) = in_order("shell_tool", default, max)?;
        let kinds = [("core", Inherit::Core), ("all", Inherit::All), ("none", Inherit::None)];
        let given = [("open", Given::Open), ("listed", Given::Listed)];
        let directories = settings.list("shell_tool.allowed_directories")?.0;
        Ok(ShellTool {
            default_timeout,
            max_timeout,
            max_output_size: settings.size("shell_tool.max_output_size", 1 << 10..=16 << 30)?,
            reply_size: settings.size("shell_tool.reply_size", 1 << 10..=16 << 20)?,
            allowed_directories: directories.into_iter().map(PathBuf::from).collect(),
            log_commands: settings.switch("shell_tool.log_commands")?,
            environment: settings.choice("shell_tool.environment", &given)?,
            environment_allow: settings.list("shell_tool.environment_allow")?.0,
            environment_deny: settings.list("shell_tool.environment_deny")?.0,
            inherit: settings.choice("shell_tool.inherit_environment", &kinds)?,
            inherit_also: settings.list("shell_tool.inherit_also")?.0,
            login_timeout: settings
                .duration("shell_tool.login_timeout", Duration::ZERO..=Duration::from_mins(5))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;

    fn with(section: &str) -> Result<ShellTool, String> {
        let mut settings = Settings::defaults().unwrap();
        let text = format!("[shell_tool]\n{section}\n");
        settings.apply_file(Path::new("x.toml"), &text).map_err(|error| error.to_string())?;
        Config::read(&mut settings).map(|config| config.shell_tool).map_err(|error| error.to_string())
    }

    #[test]
    fn the_defaults_are_those_of_the_specification() {
        let told = with("").unwrap();
        assert_eq!(
            (told.default_timeout, told.max_timeout),
            (Duration::from_mins(5), Duration::from_mins(30))
        );
        assert_eq!((told.max_output_size, told.log_commands), (10_000_000, true));
        assert_eq!((told.allowed_directories, told.inherit), (vec![], Inherit::Core));
    }

    #[test]
    fn timeouts_are_seconds_or_durations() {
        let told = with("default_timeout = 60\nmax_timeout = '2h'").unwrap();
        assert_eq!(
            (told.default_timeout, told.max_timeout),
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
