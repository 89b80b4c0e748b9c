//! The texts of `--help` and `--version`.

use crate::exit::Exit;

const HELP: &str = "\
Runs a command on a Runward server as if it were here: same directory, same bytes, same exit code.

Usage: run-remote [OPTIONS] -- PROGRAM [ARGUMENT]...

Options:
      --keep-env NAME[,NAME]...  Send these variables; no others are sent
  -i                             Forward standard input even if it is a terminal
  -t                             Run on a terminal of this one's size
      --timeout TIME             Stop it after this time, such as 90s, 5m or 1h; exits 124 then
      --cwd DIR                  Run in this directory instead of the current one
      --workspace NAME           Share temporary files and a loopback with others of this name;
                                 without a token it needs 22 characters that nobody guesses
      --check                    Say whether it may run, and which file that is; run nothing
  -V, --version                  Print the version
  -h, --help                     Print this

Variables:
  RUN_REMOTE_SERVER  where the server is: a full URL, such as http://127.0.0.1:8000/raw
  RUN_REMOTE_TOKEN   its bearer token, if it wants one; without it, for servers on this machine, the
                     one that runward token made

Standard input is forwarded unless it is a terminal. ^C and SIGTERM go to the command; a second one
gives up here and ends it there. A lost connection is taken up again where it broke.

Examples:
  run-remote -- cargo test | tee log
  tar cz src | run-remote --keep-env LANG,TERM -- tar tz
  run-remote -t -- vim notes.txt
";

/// What `--help` prints.
pub(crate) fn help() -> String {
    format!("{HELP}\n{}\n", Exit::table())
}

/// What `--version` prints.
pub(crate) fn version() -> String {
    format!("run-remote {}\n", env!("CARGO_PKG_VERSION"))
}
