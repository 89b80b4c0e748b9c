//! How the program ends when it is not the remote command that says so: the only list of these codes.

use std::fmt::{self, Write as _};

use runward_client::{Error, Exit as Ended};

/// How the program ends by its own fault or that of the way. No ordinary program uses these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command line or a variable is wrong.
    Usage = 246,
    /// Nobody answers there.
    Unreachable = 247,
    /// The way to a running command broke.
    Lost = 248,
    /// Whoever answers is no Runward server, or one of another kind.
    Protocol = 249,
    /// The rules do not allow it.
    Denied = 250,
    /// There is no such program.
    NotFound = 251,
    /// The server cannot do what was asked.
    Rejected = 252,
    /// The server cannot do it now.
    Unavailable = 253,
    /// The token is missing or wrong.
    Unauthorized = 254,
}

/// Every one of them, for `--help`.
const TABLE: [(Exit, &str); 9] = [
    (Exit::Usage, "an option or a variable of run-remote itself is wrong; nothing was sent"),
    (Exit::Unreachable, "the server cannot be reached; nothing was run"),
    (Exit::Lost, "the connection was lost while the command ran, and could not be resumed"),
    (Exit::Protocol, "the answer makes no sense; is RUN_REMOTE_SERVER right?"),
    (Exit::Denied, "the server's rules do not allow the command; nothing was run"),
    (Exit::NotFound, "there is no such program on the server"),
    (Exit::Rejected, "the server cannot run it like this, such as in this directory"),
    (Exit::Unavailable, "the server cannot run it now: busy, stopping, or failing"),
    (Exit::Unauthorized, "the server wants a token, or another one: RUN_REMOTE_TOKEN"),
];

/// What a stopped command counts as, like `timeout` does it.
const TIMED_OUT: u8 = 124;

/// What a shell says of a program that wrote to nobody: 128 and the number of SIGPIPE.
pub(crate) const BROKEN_PIPE: u8 = 141;

impl Exit {
    /// The table as `--help` shows it.
    pub(crate) fn table() -> String {
        TABLE.iter().fold(
            String::from("Exit codes of its own, all else is the command's:"),
            |mut text, (exit, meaning)| {
                let _ = write!(text, "\n  {}  {meaning}", *exit as u8);
                text
            },
        )
    }
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        exit as u8
    }
}

/// Why the program ends by itself.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Failure { exit: Exit::Usage, message: message.to_string() }
    }

    pub(crate) fn lost(message: impl fmt::Display) -> Self {
        Failure { exit: Exit::Lost, message: message.to_string() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (exit, advice) = match &error {
            Error::Unreachable { .. } => {
                (Exit::Unreachable, "; is the server running, and RUN_REMOTE_SERVER right?")
            }
            Error::Lost(_) => (Exit::Lost, ""),
            Error::Protocol(_) => (Exit::Protocol, "; is RUN_REMOTE_SERVER the address of a Runward server?"),
            Error::Rejected { status, code, .. } => rejected(*status, code),
        };
        Failure { exit, message: format!("{error}{advice}") }
    }
}

fn rejected(status: u16, code: &str) -> (Exit, &'static str) {
    match (status, code) {
        (401, _) => (Exit::Unauthorized, "; for run-remote, set RUN_REMOTE_TOKEN to it"),
        (403, _) => (Exit::Denied, ""),
        (404, "program_not_found") => (Exit::NotFound, ""),
        (404 | 405, _) => (Exit::Protocol, "; RUN_REMOTE_SERVER usually ends in /raw"),
        (429 | 500..600, _) => (Exit::Unavailable, ""),
        _ => (Exit::Rejected, ""),
    }
}

/// The code that tells how the remote command ended, as a shell would.
pub(crate) fn of_command(ended: &Ended) -> u8 {
    if ended.stopped.as_deref() == Some("timeout") {
        return TIMED_OUT;
    }
    let code = match (ended.code, ended.signal) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal.0,
        (None, None) => return Exit::Lost.into(),
    };
    u8::try_from(code & 0xff).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use runward_model::Signal;

    use super::*;

    #[test]
    fn a_command_ends_as_a_shell_would_say() {
        let code = |code, signal, stopped: Option<&str>| {
            of_command(&Ended { code, signal, stopped: stopped.map(str::to_owned), ..Ended::default() })
        };
        assert_eq!(code(Some(0), None, None), 0);
        assert_eq!(code(Some(255), None, None), 255);
        assert_eq!(code(None, Some(Signal(9)), None), 137);
        assert_eq!(code(None, Some(Signal(15)), Some("timeout")), 124);
        assert_eq!(code(None, Some(Signal(15)), Some("cancelled")), 143);
    }

    #[test]
    fn every_refusal_has_its_code() {
        let cases = [
            (401, "unauthorized", Exit::Unauthorized),
            (403, "denied", Exit::Denied),
            (404, "program_not_found", Exit::NotFound),
            (404, "not_found", Exit::Protocol),
            (400, "bad_cwd", Exit::Rejected),
            (413, "payload_too_large", Exit::Rejected),
            (429, "too_many", Exit::Unavailable),
            (503, "shutting_down", Exit::Unavailable),
        ];
        for (status, code, exit) in cases {
            assert_eq!(rejected(status, code).0, exit, "{status} {code}");
        }
    }
}
