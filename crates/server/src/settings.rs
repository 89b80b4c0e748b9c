//! What the doors are told once, at start.

use std::net::SocketAddr;
use std::time::Duration;

use crate::{RawSettings, Tokens};

/// What the doors are told once, at start. The defaults are in `config/default.toml`.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which tools are offered, by name; empty means all.
    pub tools: Vec<String>,
    /// How long a command may run when the caller does not say.
    pub default_timeout: Duration,
    /// The longest time that a caller may ask for.
    pub max_timeout: Duration,
    /// How long a command of `shell` may run when the caller does not say; whole seconds.
    pub shell_default_timeout: Duration,
    /// The longest time that a caller of `shell` may ask for; whole seconds.
    pub shell_max_timeout: Duration,
    /// How many bytes of output a reply shows.
    pub reply_size: usize,
    /// How often a caller that asked for progress hears of a running command; at least a second.
    pub heartbeat: Duration,
    /// How long a caller that hears of no progress waits before its command goes on without it.
    pub patience: Duration,
    /// The longest that an empty `write_stdin` waits for news.
    pub longest_poll: Duration,
    /// The most tokens of output that one reply about a session shows.
    pub reply_tokens: usize,
    /// What a caller should know of how commands are confined, in a sentence or two; empty where they are not.
    pub confinement: String,
    /// What the HTTP door needs beyond that.
    pub http: HttpSettings,
}

/// What the HTTP door is told once, at start.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Where to listen; port 0 means any free port.
    pub bind: SocketAddr,
    /// Who may call, by what they show. Where this is empty, whoever reaches the listener may.
    pub tokens: Tokens,
    /// Whether the streaming door is open.
    pub raw_is_open: bool,
    /// Names beyond loopback that a `Host` header may carry.
    pub allowed_hosts: Vec<String>,
    /// Origins that a browser's request may come from; none are allowed by default.
    pub allowed_origins: Vec<String>,
    /// The largest request body, in bytes.
    pub max_body: usize,
    /// How long clients may take, and how many there may be.
    pub limits: crate::http::Limits,
    /// What the streaming door is told.
    pub raw: RawSettings,
}
