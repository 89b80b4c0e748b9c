//! What can be wrong with the configuration.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::origin::Origin;

/// What can be wrong with the configuration. The text names the place first: file, line and key; variable; or flag.
#[derive(Debug, Error)]
pub(crate) enum Error {
    /// The file cannot be read.
    #[error("{}: cannot read this configuration file ({})", .path.display(), .chosen_by)]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What pointed to it.
        chosen_by: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is not TOML.
    #[error("{}:{line}: not valid TOML: {message}", .path.display())]
    Syntax {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// The parser's reason.
        message: String,
    },
    /// A setting is unknown, of the wrong kind or out of bounds.
    #[error("{origin}: {what}")]
    Setting {
        /// Where it was set.
        origin: Origin,
        /// What is wrong and what would be right.
        what: String,
    },
}

impl Error {
    pub(crate) fn setting(origin: &Origin, what: impl Into<String>) -> Self {
        Error::Setting { origin: origin.clone(), what: what.into() }
    }
}
