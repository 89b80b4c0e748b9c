//! The section `[sandbox]`, and the network of doors that have their own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use runward_model::{Network, Profile};
use runward_sandbox::Fallback;

use super::error::Error;
use super::settings::Settings;

/// What commands are confined to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sandbox {
    pub(crate) profile: Profile,
    pub(crate) network: Network,
    pub(crate) writable_roots: Vec<PathBuf>,
    pub(crate) deny_read: Vec<PathBuf>,
    pub(crate) fallback: Fallback,
    pub(crate) keep: Duration,
    /// The network of `run_network_tool`.
    pub(crate) network_tool: Network,
    /// The network of `/raw`.
    pub(crate) raw: Network,
}

impl Sandbox {
    pub(super) fn read(settings: &mut Settings) -> Result<Self, Error> {
        let networks = Network::ALL.map(|network| (network.name(), network));
        let profiles = Profile::ALL.map(|profile| (profile.name(), profile));
        let fallbacks = [("refuse", Fallback::Refuse), ("warn", Fallback::Warn)];
        let home = std::env::home_dir();
        Ok(Sandbox {
            profile: settings.choice("sandbox.profile", &profiles)?,
            network: settings.choice("sandbox.network", &networks)?,
            writable_roots: read_paths(settings, "sandbox.writable_roots", home.as_deref())?,
            deny_read: read_paths(settings, "sandbox.deny_read", home.as_deref())?,
            fallback: settings.choice("sandbox.fallback", &fallbacks)?,
            keep: settings.duration("sandbox.keep", Duration::ZERO..=Duration::from_hours(24))?,
            network_tool: settings.choice("network_tool.network", &networks)?,
            raw: settings.choice("raw.network", &networks)?,
        })
    }
}

/// Absolute paths; `~` is the home directory, and what begins with it is left out where there is none.
fn read_paths(settings: &mut Settings, key: &str, home: Option<&Path>) -> Result<Vec<PathBuf>, Error> {
    let (texts, origin) = settings.list(key)?;
    let mut paths = Vec::new();
    for text in texts {
        let path = match text.strip_prefix("~/") {
            Some(below) => match home {
                Some(home) => home.join(below),
                None => continue,
            },
            None => PathBuf::from(&text),
        };
        if !path.is_absolute() {
            let what = format!("{text:?} in {key} is not an absolute path; begin it with / or ~/");
            return Err(Error::setting(&origin, what));
        }
        paths.push(path);
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(section: &str) -> Result<Sandbox, String> {
        let mut settings = Settings::defaults().unwrap();
        let text = format!("[sandbox]\n{section}\n");
        settings.apply_file(Path::new("runward.toml"), &text).map_err(|error| error.to_string())?;
        Sandbox::read(&mut settings).map_err(|error| error.to_string())
    }

    #[test]
    fn the_network_is_off_but_for_the_doors_that_are_made_for_it() {
        let sandbox = with("").unwrap();
        assert_eq!(sandbox.network, Network::Off);
        assert_eq!((sandbox.network_tool, sandbox.raw), (Network::On, Network::On));
        assert_eq!(with("profile = \"read-only\"").unwrap().profile, Profile::ReadOnly);
    }

    #[test]
    fn paths_are_absolute_or_in_the_home_directory() {
        let home = std::env::home_dir().unwrap();
        assert_eq!(
            with("deny_read = [\"~/.ssh\", \"/etc/x\"]").unwrap().deny_read,
            [home.join(".ssh"), "/etc/x".into()]
        );
        let refused = with("writable_roots = [\"build\"]").unwrap_err();
        assert!(refused.contains("\"build\" in sandbox.writable_roots is not an absolute path"), "{refused}");
    }
}
