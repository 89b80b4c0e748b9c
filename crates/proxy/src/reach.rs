//! What an operator writes of the network.

use std::sync::Arc;

use runward_model::Network;

use crate::hosts::Hosts;
use crate::lists::Lists;
use crate::pattern::Unreadable;

/// What of the network commands can reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing.
    Off,
    /// What lists of hosts say.
    Listed(Arc<Hosts>),
    /// Everything that the host can.
    On,
}

impl Reach {
    /// Reads one text: `off`, `on`, or hosts with commas between them: `!` before one denies it, `?` has a person asked. A single
    /// plain word is more likely a slip than a host; a comma behind it makes it one.
    pub fn parse(setting: &str, text: &str) -> Result<Self, Unreadable> {
        match text.trim() {
            "off" => Ok(Reach::Off),
            "on" => Ok(Reach::On),
            word if !word.contains(['.', ':', ',', '*']) => Err(Unreadable(word.to_owned())),
            hosts => {
                let entries = hosts.split(',').map(str::trim).filter(|entry| !entry.is_empty());
                Reach::listed(setting, &Lists::marked(entries))
            }
        }
    }

    /// What lists of hosts say, those of a setting of this name.
    pub fn listed(setting: &str, lists: &Lists) -> Result<Self, Unreadable> {
        Ok(Reach::Listed(Arc::new(Hosts::new(setting, lists)?)))
    }

    /// How a command is confined for it.
    pub fn network(&self) -> Network {
        match self {
            Reach::Off => Network::Off,
            Reach::Listed(_) => Network::Listed,
            Reach::On => Network::On,
        }
    }

    /// The lists, if there are any.
    pub fn hosts(&self) -> Option<&Arc<Hosts>> {
        match self {
            Reach::Listed(hosts) => Some(hosts),
            Reach::Off | Reach::On => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_lists_are_told_apart() {
        assert_eq!(Reach::parse("network", "off").unwrap(), Reach::Off);
        assert_eq!(Reach::parse("network", " on ").unwrap(), Reach::On);
        let listed = Reach::parse("network", "example.com, *.example.org:443, !bad.example.org").unwrap();
        assert_eq!(listed.network(), Network::Listed);
        assert_eq!(Reach::parse("network", "intranet,").unwrap().network(), Network::Listed);
        for slip in ["sometimes", "", "example.com, https://x"] {
            assert!(Reach::parse("network", slip).is_err(), "{slip}");
        }
    }
}
