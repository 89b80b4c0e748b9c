//! Keeping secrets out of records, logs and output.
//!
//! Two ways: by looks, for command lines ([`redact_command`], [`redact_argv`]), and by value, for output
//! ([`Secrets`], [`Redactor`]). What is taken out leaves [`MARK`] behind.
//!
//! Looks are guesswork, held to two bounds. A secret that is written in one of the usual ways does not get through. And
//! nothing that the shell would run is taken out as if it were a value: substitutions and what follows a separator stay.

mod argv;
mod looks;
mod value;

pub use argv::redact_argv;
pub use looks::{looks_secret, redact_command};
pub use value::{Redactor, SHORTEST, Secrets};

/// What stands where a secret stood.
pub const MARK: &str = "[redacted]";
