//! Who asks.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Who asks, through which door, with which client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The way in.
    pub door: Door,
    /// On whose behalf.
    pub principal: Principal,
    /// The program at the other end, where it said.
    pub client: Option<Client>,
    /// What that names as its projects: directories that commands may write below.
    #[serde(default)]
    pub projects: Arc<[PathBuf]>,
}

impl Caller {
    /// Somebody of whose client nothing is known.
    pub fn new(door: Door, principal: Principal) -> Self {
        Caller { door, principal, client: None, projects: Arc::default() }
    }
}

/// A way into the engine: the name of the tool or endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Door(pub Cow<'static, str>);

impl Door {
    /// One of our own.
    pub const fn named(name: &'static str) -> Self {
        Door(Cow::Borrowed(name))
    }
}

/// On whose behalf a call is made, and which of their clients makes it. Two calls with different principals never share
/// anything: sessions, outputs, keys, and what a person approved for the session belong to one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Principal {
    name: Arc<str>,
    share: Share,
}

/// Which calls of one name belong together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Share {
    /// All: there is one client.
    All,
    /// Those of this client.
    Client(Arc<str>),
    /// Nobody knows which client calls. What is theirs belongs to whoever knows its name, which nobody can guess, and is
    /// in no list.
    Holders,
}

impl Principal {
    /// Whoever started this server: stdio, and loopback HTTP without a token.
    pub fn local() -> Self {
        Principal::named("local")
    }

    /// Whoever holds the server's bearer token.
    pub fn token_holder() -> Self {
        Principal::named("token")
    }

    /// Whoever holds the token that `runward token` made on this machine.
    pub fn user() -> Self {
        Principal::named("user")
    }

    /// Somebody whom the operator gave a name.
    pub fn named(name: &str) -> Self {
        Principal { name: name.into(), share: Share::All }
    }

    /// One client of theirs, by what tells it from their others.
    #[must_use]
    pub fn client(self, client: &str) -> Self {
        Principal { share: Share::Client(client.into()), ..self }
    }

    /// One of their clients, and nobody knows which.
    #[must_use]
    pub fn any_client(self) -> Self {
        Principal { share: Share::Holders, ..self }
    }

    /// What they are called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether nothing but a connection from this machine tells who this is.
    pub fn shows_nothing(&self) -> bool {
        *self == Principal { share: self.share.clone(), ..Principal::local() }
    }

    /// Whether nobody knows which client this is.
    pub fn is_any_client(&self) -> bool {
        self.share == Share::Holders
    }

    /// Whether what is `owner`'s can be reached from here by a name that nobody can guess.
    pub fn reaches(&self, owner: &Principal) -> bool {
        self == owner || (owner.is_any_client() && owner.name == self.name)
    }
}

/// A client's own word for itself; never trusted, only recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_of_one_name_share_nothing_but_what_belongs_to_whoever_knows_it() {
        let (one, other) = (Principal::local().client("1"), Principal::local().client("2"));
        let held = Principal::local().any_client();
        assert!(one.reaches(&one) && held.reaches(&held) && one.reaches(&held));
        assert!(!one.reaches(&other) && !held.reaches(&one) && !Principal::local().reaches(&one));
        assert!(!Principal::named("ci").reaches(&held));
    }
}
