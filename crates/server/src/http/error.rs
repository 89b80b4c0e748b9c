//! Why the listener could not be started, or stopped being one.

use std::io;
use std::net::SocketAddr;

/// Why the HTTP listener could not be started, or stopped being one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Other machines could reach the address and nothing would ask them who they are.
    #[error(
        "{0} can be reached from other machines, so a token is demanded: set RUNWARD_TOKEN, make one with `runward token`, or bind to 127.0.0.1"
    )]
    TokenMissing(SocketAddr),
    /// The address is taken, not ours, or not allowed.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// An entry of `allowed_hosts` that no `Host` header could ever equal.
    #[error("allowed host {0:?} is not a host: write it as example.com or example.com:8000")]
    AllowedHost(String),
    /// An entry of `allowed_origins` that no `Origin` header could ever equal.
    #[error(
        "allowed origin {0:?} is not an origin: write it as https://example.com, or http://example.com:* for any port"
    )]
    AllowedOrigin(String),
    /// The signals that stop the server cannot be received.
    #[error("cannot wait for SIGTERM and SIGINT")]
    Signals(#[source] io::Error),
    /// Accepting connections failed for good.
    #[error("the listener failed")]
    Listener(#[source] io::Error),
}
