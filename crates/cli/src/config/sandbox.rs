//! The section `[sandbox]`, and the network of doors that have their own.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use runward_model::{Profile, Promise};
use runward_proxy::Reach;
use runward_sandbox::Fallback;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::fields::{choice, readers};
use super::usage::Amount;

readers! {
    network: Reach = reach("sandbox.network");
    tool_network: Reach = reach("network_tool.network");
    writable_roots: Vec<PathBuf> = paths("sandbox.writable_roots");
    deny_read: Vec<PathBuf> = paths("sandbox.deny_read");
    fallback: Older = choice(&[("require", Older::Silent), ("refuse", Older::All), ("warn", Older::Nothing)]);
    temporary_size: Amount = size_or_auto(1 << 20..=1 << 40);
    keep: Duration = duration(Duration::ZERO..=Duration::from_hours(24));
    caches: Vec<PathBuf> = paths("sandbox.caches");
    cache_quota: u64 = size(0..=1 << 50);
    cache_keep: Duration = duration(Duration::from_mins(1)..=Duration::from_hours(8760));
}

/// What commands are confined to.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sandbox {
    #[serde(deserialize_with = "profile")]
    pub(crate) profile: Profile,
    #[serde(deserialize_with = "network")]
    pub(crate) network: Reach,
    #[serde(deserialize_with = "writable_roots")]
    pub(crate) writable_roots: Vec<PathBuf>,
    #[serde(deserialize_with = "deny_read")]
    pub(crate) deny_read: Vec<PathBuf>,
    /// What has to be kept for anything to run.
    #[serde(deserialize_with = "require")]
    require: Vec<Promise>,
    #[serde(deserialize_with = "fallback")]
    fallback: Older,
    #[serde(deserialize_with = "temporary_size")]
    pub(crate) temporary_size: Amount,
    #[serde(deserialize_with = "keep")]
    pub(crate) keep: Duration,
    /// What is written to in a layer of the workspace's own.
    #[serde(deserialize_with = "caches")]
    pub(crate) caches: Vec<PathBuf>,
    /// How much all layers may take together.
    #[serde(deserialize_with = "cache_quota")]
    pub(crate) cache_quota: u64,
    /// How long one that nobody uses is kept.
    #[serde(deserialize_with = "cache_keep")]
    pub(crate) cache_keep: Duration,
    /// Ports of this host's loopback that may be opened for commands.
    #[serde(deserialize_with = "ports")]
    pub(crate) publish: Vec<RangeInclusive<u16>>,
    /// Narrower profiles of certain doors.
    #[serde(deserialize_with = "doors")]
    pub(crate) doors: Vec<(String, Profile)>,
}

/// An older way to say what has to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Older {
    /// What the list says.
    Silent,
    /// Everything.
    All,
    /// Nothing.
    Nothing,
}

impl Sandbox {
    /// What happens where the host cannot keep a promise.
    pub(crate) fn fallback(&self) -> Fallback {
        match self.fallback {
            Older::Silent => Fallback::Unless(self.require.clone()),
            Older::All => Fallback::Refuse,
            Older::Nothing => Fallback::Warn,
        }
    }
}

/// What a word of sandbox.require asks for; the name of a promise asks for that one.
const REQUIRED: [(&str, &[Promise]); 4] = [
    ("write", &[Promise::Writes, Promise::Kernel]),
    ("read", &[Promise::Hidden, Promise::Temporary]),
    ("net", &[Promise::Network, Promise::Services]),
    ("processes", &[Promise::Processes]),
];

fn require<'de, D: Deserializer<'de>>(setting: D) -> Result<Vec<Promise>, D::Error> {
    let mut required = Vec::new();
    for word in Vec::<String>::deserialize(setting)? {
        let several =
            REQUIRED.iter().find(|(known, _)| *known == word).map(|(_, promises)| promises.to_vec());
        let one = || Promise::ALL.into_iter().find(|promise| promise.name() == word).map(|one| vec![one]);
        let Some(promises) = several.or_else(one) else {
            let known = REQUIRED.iter().map(|(word, _)| *word);
            let others = Promise::ALL.iter().map(|promise| promise.name());
            let others = others.filter(|name| !REQUIRED.iter().any(|(word, _)| word == name));
            let known = known.chain(others).collect::<Vec<_>>().join(", ");
            return Err(D::Error::custom(format!("there is no promise {word:?}; there are {known}")));
        };
        required.extend(promises);
    }
    Ok(required)
}

/// A door that is made for the network.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkTool {
    #[serde(deserialize_with = "tool_network")]
    pub(crate) network: Reach,
}

fn profile<'de, D: Deserializer<'de>>(setting: D) -> Result<Profile, D::Error> {
    choice(setting, &Profile::ALL.map(|profile| (profile.name(), profile)))
}

/// `PORT` or `FIRST-LAST` each.
fn ports<'de, D: Deserializer<'de>>(setting: D) -> Result<Vec<RangeInclusive<u16>>, D::Error> {
    let port = |text: &str| text.trim().parse().ok().filter(|port: &u16| *port > 0);
    let range = |text: &String| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let range = port(first).zip(port(last)).filter(|(first, last)| first <= last);
        range.map(|(first, last)| first..=last).ok_or_else(|| {
            let what = "is no port; write one from 1 to 65535, or a range such as \"3000-3999\"";
            D::Error::custom(format!("{text:?} {what}"))
        })
    };
    Vec::<String>::deserialize(setting)?.iter().map(range).collect()
}

/// `DOOR=PROFILE` each.
fn doors<'de, D: Deserializer<'de>>(setting: D) -> Result<Vec<(String, Profile)>, D::Error> {
    let entries = Vec::<String>::deserialize(setting)?;
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
    entries.iter().map(one).collect::<Result<_, _>>().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;
    use crate::config::settings::Settings;

    fn with(section: &str) -> Result<Sandbox, String> {
        all_with(section).map(|config| config.sandbox)
    }

    fn all_with(section: &str) -> Result<Config, String> {
        let mut settings = Settings::defaults().unwrap();
        let text = format!("[sandbox]\n{section}\n");
        settings.apply_file(Path::new("runward.toml"), &text).map_err(|error| error.to_string())?;
        Config::read(&settings).map_err(|error| error.to_string())
    }

    #[test]
    fn the_network_is_off_but_for_the_doors_that_are_made_for_it() {
        let config = all_with("").unwrap();
        assert_eq!(config.sandbox.network, Reach::Off);
        assert_eq!((config.network_tool.network, config.raw.network), (Reach::On, Reach::On));
        assert_eq!(with("profile = \"read-only\"").unwrap().profile, Profile::ReadOnly);
    }

    #[test]
    fn what_is_required_is_said_in_words_and_older_settings_mean_all_or_nothing() {
        let usual = with("").unwrap().fallback();
        let Fallback::Unless(required) = usual else { panic!("{usual:?}") };
        assert!(required.contains(&Promise::Writes) && !required.contains(&Promise::Processes));
        let all = with("require = ['write', 'read', 'net', 'processes', 'protected', 'metadata']");
        let Fallback::Unless(all) = all.unwrap().fallback() else { panic!() };
        assert!(Promise::ALL.iter().all(|promise| all.contains(promise)));
        assert_eq!(with("require = []").unwrap().fallback(), Fallback::Unless(Vec::new()));
        assert_eq!(with("fallback = 'refuse'").unwrap().fallback(), Fallback::Refuse);
        assert_eq!(with("fallback = 'warn'").unwrap().fallback(), Fallback::Warn);
        let refused = with("require = ['writing']").unwrap_err();
        assert!(refused.contains("there is no promise \"writing\"; there are write, read, net"), "{refused}");
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
