//! How the program ends: the only list of exit codes.

use std::fmt::Write as _;
use std::process::ExitCode;

use runward_server::http;

use crate::config::{Error, Origin};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked.
    Success = 0,
    /// The answer is no: the command may not run, an attack would get through, the trail is broken, there is no such call.
    No = 1,
    /// The command line of `runward` itself is wrong. `clap` exits with the same number.
    Usage = 2,
    /// Something failed that is no matter of configuration.
    Failed = 70,
    /// A setting is wrong; the number is `EX_CONFIG` of `sysexits.h`.
    Config = 78,
}

/// Every way to end, for `--help`.
const TABLE: [(Exit, &str); 5] = [
    (Exit::Success, "done: the command is allowed, no attack gets through, the trail is whole"),
    (Exit::No, "the command is not allowed, an attack gets through, the trail is broken, no such call"),
    (Exit::Usage, "a flag or an argument of runward itself is wrong"),
    (
        Exit::Failed,
        "the server could not start or go on, or the trail cannot be read; standard error says why",
    ),
    (Exit::Config, "a setting is wrong; standard error names the file, line and key"),
];

impl Exit {
    /// The way to end after an error.
    pub(crate) fn after(error: &anyhow::Error) -> Self {
        match error.downcast_ref::<Error>() {
            Some(Error::Setting { origin: Origin::Flag(_), .. }) => Exit::Usage,
            Some(_) => Exit::Config,
            None => error.downcast_ref().map_or(Exit::Failed, Exit::after_serving),
        }
    }

    const fn after_serving(error: &http::Error) -> Self {
        match error {
            http::Error::TokenMissing(_) | http::Error::AllowedHost(_) | http::Error::AllowedOrigin(_) => {
                Exit::Config
            }
            _ => Exit::Failed,
        }
    }

    /// The table as `--help` shows it.
    pub(crate) fn table() -> String {
        TABLE.iter().fold(String::from("Exit codes:"), |mut text, (exit, meaning)| {
            let _ = write!(text, "\n  {:>2}  {meaning}", *exit as u8);
            text
        })
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
