//! The section `[sandbox]`, and the network of doors that have their own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use runward_model::Profile;
use runward_proxy::Reach;
use runward_sandbox::Fallback;

use super::error::Error;
use super::settings::Settings;

/// What commands are confined to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sandbox {
    pub(crate) profile: Profile,
    pub(crate) network: Reach,
    pub(crate) writable_roots: Vec<PathBuf>,
    pub(crate) deny_read: Vec<PathBuf>,
    pub(crate) fallback: Fallback,
    pub(crate) temporary_size: u64,
    pub(crate) keep: Duration,
    /// Narrower profiles of certain doors.
    pub(crate) doors: Vec<(String, Profile)>,
    /// The network of `run_network_tool`.
    pub(crate) network_tool: Reach,
    /// The network of `/raw`.
    pub(crate) raw: Reach,
}

impl Sandbox {
    pub(super) fn read(settings: &mut Settings) -> Result<Self, Error> {
        let profiles = Profile::ALL.map(|profile| (profile.name(), profile));
        let fallbacks = [("refuse", Fallback::Refuse), ("warn", Fallback::Warn)];
        let home = std::env::home_dir();
        Ok(Sandbox {
            profile: settings.choice("sandbox.profile", &profiles)?,
            network: read_network(settings, "sandbox.network")?,
            writable_roots: read_paths(settings, "sandbox.writable_roots", home.as_deref())?,
            deny_read: read_paths(settings, "sandbox.deny_read", home.as_deref())?,
            fallback: settings.choice("sandbox.fallback", &fallbacks)?,
            temporary_size: settings.size("sandbox.temporary_size", 1 << 20..=1 << 40)? as u64,
            keep: settings.duration("sandbox.keep", Duration::ZERO..=Duration::from_hours(24))?,
            doors: read_doors(settings)?,
            network_tool: read_network(settings, "network_tool.network")?,
            raw: read_network(settings, "raw.network")?,
        })
    }
}

/// `off`, `on`, or hosts.
fn read_network(settings: &mut Settings, key: &str) -> Result<Reach, Error> {
    let (text, origin) = settings.text(key)?;
    Reach::parse(key, &text).map_err(|error| {
        let what = "it takes \"off\", \"on\", or hosts as in { allow = [\"example.com\"] }";
        Error::setting(&origin, format!("{what}: {error}"))
    })
}

/// `DOOR=PROFILE` each.
fn read_doors(settings: &mut Settings) -> Result<Vec<(String, Profile)>, Error> {
    let (entries, origin) = settings.list("sandbox.doors")?;
    let known: Vec<&str> = runward_server::tool_names().into_iter().chain(["raw"]).collect();
    let one = |entry: &String| {
        let (door, name) = entry.split_once('=').unwrap_or((entry, ""));
        let profile = Profile::ALL.into_iter().find(|profile| profile.name() == name.trim());
        match (known.iter().find(|known| **known == door.trim()), profile) {
            (Some(door), Some(profile)) => Ok(((*door).to_owned(), profile)),
            (None, _) => Err(format!("there is no door {door:?}; there are {}", known.join(", "))),
            (_, None) => Err(format!("{entry:?} names no profile; write {door}=read-only")),
        }
    };
    entries.iter().map(one).collect::<Result<_, _>>().map_err(|what| Error::setting(&origin, what))
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
        assert_eq!(sandbox.network, Reach::Off);
        assert_eq!((sandbox.network_tool, sandbox.raw), (Reach::On, Reach::On));
        assert_eq!(with("profile = \"read-only\"").unwrap().profile, Profile::ReadOnly);
    }

    #[test]
    fn a_network_is_a_word_or_lists_of_hosts() {
        let listed =
            Reach::parse("sandbox.network", "example.com,*.example.org:443,!bad.example.org,?10.0.0.1");
        let listed = listed.unwrap();
        for text in [
            "network = { allow = ['example.com', '*.example.org:443'], deny = ['bad.example.org'], ask = ['10.0.0.1'] }",
            "network.allow = ['example.com', '*.example.org:443']\nnetwork.deny = ['bad.example.org']\nnetwork.ask = ['10.0.0.1']",
            "network = 'example.com,*.example.org:443,!bad.example.org,?10.0.0.1'",
        ] {
            assert_eq!(with(text).unwrap().network, listed, "{text}");
        }
        assert_eq!(
            with("network = { allow = [] }").unwrap().network.network(),
            runward_model::Network::Listed
        );
        for (text, message) in [
            ("network = 'offf'", "it takes \"off\", \"on\", or hosts"),
            ("network = { allow = ['http://x'] }", "\"http://x\" is no host; write a name"),
            (
                "network = { permit = ['x'] }",
                "there is no list \"permit\" of hosts; there are allow, ask, deny",
            ),
            ("network = { allow = 'x' }", "expected a list of hosts, found text"),
            (
                "network = true",
                "expected \"off\", \"on\" or { allow = [\"example.com\"] }, found true or false",
            ),
        ] {
            let refused = with(text).unwrap_err();
            assert!(
                refused.starts_with("runward.toml:2: sandbox.network: ") && refused.contains(message),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_door_can_have_a_narrower_profile() {
        let doors = with("doors = ['raw=read-only', 'shell = read-only']").unwrap().doors;
        assert_eq!(doors, [("raw".into(), Profile::ReadOnly), ("shell".into(), Profile::ReadOnly)]);
        for (entry, message) in [
            ("window=read-only", "there is no door \"window\"; there are "),
            ("raw", "\"raw\" names no profile; write raw=read-only"),
            ("raw=none", "\"raw=none\" names no profile"),
        ] {
            let refused = with(&format!("doors = ['{entry}']")).unwrap_err();
            assert!(refused.contains(message), "{refused}");
        }
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
