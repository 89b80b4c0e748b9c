//! One file a subcommand.

mod approvals;
mod audit;
mod check;
mod doctor;
mod gc;
mod held;
mod policy_test;
mod resume;
mod serve;
mod stdio;
mod token;

use clap::CommandFactory;

use crate::args::{Args, Policy, Subcommand};
use crate::exit::Exit;

/// Does what the command line asks; without a subcommand, shows how to begin.
pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    match args.subcommand {
        Some(Subcommand::Stdio(stdio)) => stdio::run(&stdio, &args.common),
        Some(Subcommand::Serve(serve)) => serve::run(&serve, &args.common),
        Some(Subcommand::Check(check)) => check::run(check, &args.common),
        Some(Subcommand::Policy(Policy::Test(test))) => policy_test::run(&test, &args.common),
        Some(Subcommand::Approvals(action)) => approvals::run(action, &args.common),
        Some(Subcommand::Held(args)) => held::run(&args),
        Some(Subcommand::Audit(action)) => audit::run(action, &args.common),
        Some(Subcommand::Doctor(doctor)) => doctor::run(&doctor, &args.common),
        Some(Subcommand::Gc(gc)) => gc::run(&gc, &args.common),
        Some(Subcommand::Token(args)) => token::run(&args),
        Some(Subcommand::Resume) => resume::run(&args.common),
        None => {
            Args::command().print_help()?;
            Ok(Exit::Success)
        }
    }
}
