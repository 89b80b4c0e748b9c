//! Who asks.

use std::sync::Arc;

/// Who asks, through which door, with which client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The way in.
    pub door: Door,
    /// On whose behalf.
    pub principal: Principal,
    /// The program at the other end, where it said.
    pub client: Option<Client>,
}

/// A way into the engine: the name of the tool or endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Door(pub &'static str);

/// On whose behalf a call is made. Two calls with different principals never share anything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal(pub Arc<str>);

impl Principal {
    /// Whoever started this server: stdio, and loopback HTTP without a token.
    pub fn local() -> Self {
        Principal("local".into())
    }

    /// Whoever holds the server's bearer token.
    pub fn token_holder() -> Self {
        Principal("token".into())
    }
}

/// A client's own word for itself; never trusted, only recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}
