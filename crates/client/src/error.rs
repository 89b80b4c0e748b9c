//! What can go wrong between here and a command.

use std::io;

use thiserror::Error;

/// What can go wrong between here and a command.
#[derive(Debug, Error)]
pub enum Error {
    /// Nobody answers there, so nothing was run.
    #[error("cannot connect to {address}: {source}")]
    Unreachable {
        /// Where.
        address: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The connection broke.
    #[error("the connection to the server was lost: {0}")]
    Lost(#[source] io::Error),
    /// The server said no, in so many words.
    #[error("{message}")]
    Rejected {
        /// The HTTP status.
        status: u16,
        /// The server's code for it.
        code: String,
        /// The server's reason.
        message: String,
    },
    /// What came is not what a Runward server sends.
    #[error("the server's answer makes no sense: {0}")]
    Protocol(String),
}

impl Error {
    /// An answer that no server of ours would give.
    pub(crate) fn protocol(what: impl Into<String>) -> Self {
        Error::Protocol(what.into())
    }

    /// Whether nobody listens where somebody did before.
    pub fn is_refused(&self) -> bool {
        let (Error::Unreachable { source, .. } | Error::Lost(source)) = self else { return false };
        source.kind() == io::ErrorKind::ConnectionRefused
    }
}
