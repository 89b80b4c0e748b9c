//! The `runward` program: arguments, configuration, and one file a subcommand.

mod args;
mod config;
mod exit;
mod help;
mod inheritance;
mod log;
mod printable;
mod secrets;
mod state;
mod subcommand;
mod trail;
mod wiring;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // The same executable is the runner when it is started under that name; nothing may come before this.
    if let Some(code) = runward_runner::run_if_called() {
        return code;
    }
    let result = subcommand::run(args::Args::parse());
    let exit = result.unwrap_or_else(|error| {
        eprintln!("runward: {error:#}");
        exit::Exit::after(&error)
    });
    exit.into()
}
