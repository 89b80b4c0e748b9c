//! The `run-remote` program: runs a command on a Runward server as if it were here.

mod acknowledge;
mod args;
mod exit;
mod follow;
mod help;
mod input;
mod output;
mod run;
mod setup;
mod signals;
#[path = "../../state.rs"]
mod state;
mod terminal;

use std::process::ExitCode;

fn main() -> ExitCode {
    let code = run::run(std::env::args_os().skip(1)).unwrap_or_else(|failure| {
        eprintln!("run-remote: {}", failure.message);
        failure.exit.into()
    });
    ExitCode::from(code)
}
