//! The command line.

mod approvals;
mod audit;
mod held;

use std::path::PathBuf;

pub(crate) use approvals::Approvals;
pub(crate) use audit::{Audit, Export, List, Show, Verify};
pub(crate) use held::{Held, HeldAction, Named};

use clap::{Args as ClapArgs, Parser};

use crate::config::Flag;
use crate::help;

/// Run commands for agents, scripts and people, under rules you can read.
#[derive(Debug, Parser)]
#[command(name = "runward", version, max_term_width = 100, after_help = help::first_steps())]
#[command(disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) subcommand: Option<Subcommand>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What every subcommand takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct Common {
    #[arg(help = "Read settings from this file [env: RUNWARD_CONFIG]")]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Write log lines as text or json
    #[arg(long, value_name = "FORMAT", global = true)]
    pub(crate) log_format: Option<String>,
}

/// What the program can do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Subcommand {
    /// Serve MCP on standard input and output, for a client that starts this program
    #[command(after_help = help::STDIO)]
    Stdio(Stdio),
    /// Serve MCP over HTTP at /mcp
    #[command(after_help = help::SERVE)]
    Serve(Serve),
    /// Say whether a command may run and why; nothing is executed
    #[command(after_help = help::CHECK, override_usage = help::CHECK_USAGE)]
    Check(Check),
    /// Try your rules
    #[command(subcommand)]
    Policy(Policy),
    /// Answer what servers ask before they run a command
    #[command(subcommand, after_help = help::APPROVALS)]
    Approvals(Approvals),
    /// Take over what commands made that runs code for other programs, or discard it
    #[command(after_help = help::HELD)]
    Held(Held),
    /// Read the record of every call
    #[command(subcommand, after_help = help::audit())]
    Audit(Audit),
    /// Say what this host can enforce, by trying every promise of the sandbox for real
    #[command(after_help = help::DOCTOR)]
    Doctor(Doctor),
    /// Make a token for HTTP clients
    #[command(after_help = help::TOKEN)]
    Token(Token),
    /// Show what commands have written to caches, and remove what is too much or too old
    #[command(after_help = help::GC)]
    Gc(Gc),
    /// Let commands run again after a failure that stopped all of them
    Resume,
}

/// What `stdio` takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct Stdio {
    #[command(flatten)]
    pub(crate) tools: Tools,
}

/// What `serve` takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct Serve {
    #[arg(help = "Listen here; port 0 takes a free one [env: MCP_BIND_ADDR]")]
    #[arg(long, value_name = "IP:PORT")]
    pub(crate) bind: Option<String>,
    #[command(flatten)]
    pub(crate) tools: Tools,
}

/// What `check` takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct Check {
    /// Answer with JSON: decision, reason, and the same for each command
    #[arg(long)]
    pub(crate) json: bool,
    /// Judge as if the caller had asked for this working directory
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// One argument is a command line; several are a program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// What can be done with the rules.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Policy {
    /// Try a built-in list of attacks against your rules; nothing is executed
    #[command(after_help = help::POLICY_TEST)]
    Test(PolicyTest),
}

/// What `policy test` takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct PolicyTest {
    /// Answer with JSON: how many attacks, and each that would get through
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `doctor` takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct Doctor {
    /// Answer with JSON: each promise, each act that was tried, and what is missing
    #[arg(long)]
    pub(crate) json: bool,
    /// Try the same without a sandbox, to see that the acts are real; nothing outside their directory is touched
    #[arg(long)]
    pub(crate) unconfined: bool,
    /// Try as if this host offered no more than this: full, shared-proc, landlock or none
    #[arg(long, value_name = "TIER")]
    pub(crate) tier: Option<String>,
}

/// What `gc` takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct Gc {
    /// Remove everything that is not in use
    #[arg(long)]
    pub(crate) all: bool,
    /// Only say what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Answer with JSON: each layer, its workspace, size and age, and what became of it
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `token` takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct Token {
    /// Make one for somebody else, who gets this name, and print it once; without a name, make this user's own
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// What its holder may do, separated by commas: run, read, answer
    #[arg(long, value_name = "ROLES", requires = "name", default_value = "run")]
    pub(crate) roles: String,
    /// Replace this user's own token by a new one
    #[arg(long, conflicts_with = "name")]
    pub(crate) new: bool,
}

/// Which tools are offered.
#[derive(Debug, ClapArgs)]
pub(crate) struct Tools {
    #[arg(help = "Offer only these tools, separated by commas; raw is /raw and /check [env: RUNWARD_TOOLS]")]
    #[arg(long, value_name = "NAMES")]
    pub(crate) tools: Option<String>,
}

impl Common {
    /// The settings that these flags set.
    pub(crate) fn flags(&self) -> Vec<Flag<'_>> {
        self.log_format.iter().map(|format| ("--log-format", "log.format", format.as_str())).collect()
    }
}

impl Serve {
    /// The settings that these flags set.
    pub(crate) fn flags(&self) -> Vec<Flag<'_>> {
        let bind = self.bind.iter().map(|bind| ("--bind", "http.bind", bind.as_str()));
        bind.chain(self.tools.flags()).collect()
    }
}

impl Tools {
    /// The settings that these flags set.
    pub(crate) fn flags(&self) -> Vec<Flag<'_>> {
        self.tools.iter().map(|tools| ("--tools", "tools", tools.as_str())).collect()
    }
}
