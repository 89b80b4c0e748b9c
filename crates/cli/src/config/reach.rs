//! A network: a word, lists of hosts, or, in a variable, hosts with their marks.

use std::fmt;

use runward_proxy::{Lists, Reach};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// The network of a setting; decisions name it.
pub(super) fn reach<'de, D: Deserializer<'de>>(setting: D, key: &str) -> Result<Reach, D::Error> {
    let reach = match Network::deserialize(setting)? {
        Network::Text(text) => Reach::parse(key, &text),
        Network::Lists(lists) => Reach::listed(key, &lists),
    };
    reach.map_err(|error| {
        let what = "it takes \"off\", \"on\", or hosts as in { allow = [\"example.com\"] }";
        D::Error::custom(format!("{what}: {error}"))
    })
}

/// A network as it is written.
enum Network {
    Text(String),
    Lists(Lists),
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Either)
    }
}

struct Either;

impl<'de> Visitor<'de> for Either {
    type Value = Network;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"off\", \"on\" or { allow = [\"example.com\"] }")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Network, E> {
        Ok(Network::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Network, A::Error> {
        let mut lists = Lists::default();
        while let Some(name) = table.next_key::<String>()? {
            let list = match name.as_str() {
                "allow" => &mut lists.allow,
                "ask" => &mut lists.ask,
                "deny" => &mut lists.deny,
                other => {
                    let what = format!("there is no list {other:?} of hosts; there are allow, ask, deny");
                    return Err(A::Error::custom(what));
                }
            };
            let Hosts(hosts) = table.next_value()?;
            *list = hosts;
        }
        Ok(Network::Lists(lists))
    }
}

struct Hosts(Vec<String>);

impl<'de> Deserialize<'de> for Hosts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Listed).map(Hosts)
    }
}

struct Listed;

impl<'de> Visitor<'de> for Listed {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of hosts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<String>, A::Error> {
        let other = |_| A::Error::custom("expected a list of hosts, found a list of something else");
        std::iter::from_fn(|| items.next_element().transpose()).collect::<Result<_, _>>().map_err(other)
    }
}
