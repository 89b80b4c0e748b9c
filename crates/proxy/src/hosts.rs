//! Lists of hosts, and what they say.

use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::{is_own, is_public};
use crate::lists::Lists;
use crate::pattern::{Pattern, Unreadable};
use crate::target::Target;

/// Which hosts may be reached, which may not, and about which a person is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    /// The setting that they stand in, for whoever has to be told.
    setting: String,
    deny: Vec<Pattern>,
    allow: Vec<Pattern>,
    ask: Vec<Pattern>,
}

/// What the lists say of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It may be reached; by this entry.
    Allow(String),
    /// A person is asked; by this entry.
    Ask(String),
    /// It may not; why.
    Deny(String),
}

/// Whether an address may be dialled at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// It may.
    Given,
    /// Only once a person has said so.
    ToBeAsked,
}

impl Hosts {
    /// Reads the lists of a setting.
    pub fn new(setting: &str, lists: &Lists) -> Result<Self, Unreadable> {
        let patterns =
            |list: &[String]| list.iter().map(|entry| Pattern::parse(entry)).collect::<Result<Vec<_>, _>>();
        Ok(Hosts {
            setting: setting.to_owned(),
            deny: patterns(&lists.deny)?,
            allow: patterns(&lists.allow)?,
            ask: patterns(&lists.ask)?,
        })
    }

    /// What is said of a host by the name that it is wanted by.
    pub fn judge(&self, target: &Target) -> Ruling {
        let find = |list: &[Pattern]| list.iter().find(|entry| entry.means(target)).map(ToString::to_string);
        if let Some(entry) = find(&self.deny) {
            return Ruling::Deny(self.denies(&entry));
        }
        // Else whoever may not reach a name would reach it by its address.
        let allow =
            self.allow.iter().find(|entry| entry.means(target) && !(entry.is_all() && target.is_address()));
        if let Some(entry) = allow {
            return Ruling::Allow(entry.to_string());
        }
        let Hosts { setting, .. } = self;
        let own = if target.is_loopback() {
            "; a server that the command started itself is reached without the proxy (no_proxy=127.0.0.1,localhost)"
        } else {
            ""
        };
        let unlisted = || format!("{setting} does not list it; to allow it, add \"{target}\" there{own}");
        find(&self.ask).map_or_else(|| Ruling::Deny(unlisted()), Ruling::Ask)
    }

    /// Whether an address that a name led to may be dialled, or why not.
    pub(crate) fn judge_address(&self, address: IpAddr, port: u16) -> Result<Leave, String> {
        let names = |entry: &&Pattern| entry.names(address, port);
        if let Some(entry) = self.deny.iter().find(names) {
            return Err(self.denies(entry));
        }
        let own = is_own(address);
        if is_public(address) && !own || self.allow.iter().any(|entry| names(&entry)) {
            return Ok(Leave::Given);
        }
        if self.ask.iter().any(|entry| names(&entry)) {
            return Ok(Leave::ToBeAsked);
        }
        let Hosts { setting, .. } = self;
        let what = if is_public(address) { "is an address of this host" } else { "is no public address" };
        Err(format!(
            "{address} {what}, and such have to be named themselves; to allow it, add \"{address}\" to {setting}"
        ))
    }

    fn denies(&self, entry: impl Display) -> String {
        format!("{} denies {entry}", self.setting)
    }

    /// Whether this host's own loopback can be reached.
    pub fn names_loopback(&self) -> bool {
        let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        let any = |entry: &Pattern| loopback.iter().any(|address| entry.names_at_some_port(*address));
        self.allow.iter().chain(&self.ask).any(any)
    }

    /// Whether there is anything about which a person is asked.
    pub fn asks(&self) -> bool {
        !self.ask.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(entries: &[&str], target: &str) -> Ruling {
        Hosts::new("network", &Lists::marked(entries.iter().copied()))
            .unwrap()
            .judge(&Target::parse(target, Some(443)).unwrap())
    }

    #[test]
    fn denying_comes_before_allowing_and_that_before_asking() {
        let entries = ["*.example.com", "!secret.example.com", "?*", "!*.evil.net"];
        assert_eq!(judged(&entries, "www.example.com"), Ruling::Allow("*.example.com".into()));
        assert!(matches!(judged(&entries, "secret.example.com"), Ruling::Deny(_)));
        assert_eq!(judged(&entries, "other.org"), Ruling::Ask("*".into()));
        assert!(matches!(judged(&entries, "a.evil.net"), Ruling::Deny(_)));
        assert!(matches!(judged(&["example.com"], "example.org"), Ruling::Deny(_)));
        assert!(matches!(judged(&[], "example.org"), Ruling::Deny(_)));
    }

    #[test]
    fn every_name_is_no_address() {
        let entries = ["*", "!secret.example.com"];
        assert_eq!(judged(&entries, "www.example.com"), Ruling::Allow("*".into()));
        let Ruling::Deny(why) = judged(&entries, "93.184.216.34") else { panic!("it is no name") };
        assert!(why.contains("add \"93.184.216.34:443\" there"), "{why}");
        assert_eq!(judged(&["?*"], "93.184.216.34"), Ruling::Ask("*".into()));
        assert!(matches!(judged(&["!*", "93.184.216.34"], "93.184.216.34"), Ruling::Deny(_)));
        assert!(matches!(judged(&["*", "93.0.0.0/8"], "93.184.216.34"), Ruling::Allow(_)));
    }

    #[test]
    fn private_addresses_have_to_be_named() {
        let hosts =
            Hosts::new("network", &Lists::marked(["*", "10.1.0.0/16", "!10.1.2.3", "!1.2.3.4"])).unwrap();
        let may = |address: &str| hosts.judge_address(address.parse().unwrap(), 443).is_ok();
        assert!(may("8.8.8.8") && may("10.1.9.9"));
        assert!(!may("10.2.0.1") && !may("127.0.0.1") && !may("10.1.2.3") && !may("1.2.3.4"));
        assert!(!may("169.254.169.254") && !may("::ffff:127.0.0.1") && !may("::ffff:1.2.3.4"));
    }

    #[test]
    fn loopback_is_named_by_name_address_or_network() {
        for (entry, named) in
            [("localhost:80", true), ("127.0.0.1", true), ("::1", true), ("127.0.0.0/8", true), ("*", false)]
        {
            assert_eq!(
                Hosts::new("network", &Lists::marked([entry])).unwrap().names_loopback(),
                named,
                "{entry}"
            );
        }
    }
}
