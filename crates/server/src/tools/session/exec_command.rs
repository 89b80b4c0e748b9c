//! `exec_command`: a command that may go on after the reply.

use std::collections::BTreeSet;
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use runward_engine::{Ready, Wait};
use runward_model::{Caller, Confinement, Request, Script, Service, Size, Stdio, Wish, Work};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{Act, Alternative, Limits, Tool, running, workflow};
use super::portion::WaitArguments;
use super::ready::ReadyArguments;
use super::{Opening, encode};
use crate::arguments::{Arguments, BadArgument, Decoder};

/// How short and how long a call may wait.
pub(super) const SHORTEST: Duration = Duration::from_millis(250);
pub(super) const LONGEST: Duration = Duration::from_secs(30);

/// What programs on pipes should not do: draw, page, or speak another encoding.
const ON_PIPES: &[(&str, &str)] = &[
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
    ("LANG", "C.UTF-8"),
    ("LC_CTYPE", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("COLORTERM", ""),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
];

/// What the terminal that `read_session` draws understands.
const ON_TERMINAL: &[(&str, &str)] =
    &[("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("LC_CTYPE", "C.UTF-8")];

pub(in super::super) const TOOL: Tool = Tool {
    name: "exec_command",
    title: "Run a command that may go on",
    description: "Run a shell command. Replies when it ends, or after yield_time_ms with a session ID for write_stdin. \
        tty gives it a terminal, for prompts, REPLs and full-screen programs.",
    alternatives: &[Alternative { tool: "shell", when: "For a command that simply ends use shell." }],
    annotations: running::annotations,
    output: Some(encode::schema),
    act: Act::Keep(Decoder::of::<ExecCommand>()),
};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct ExecCommand {
    /// Shell command.
    #[schemars(length(min = 1))]
    cmd: String,
    /// Directory to run in; left out or empty: the server's own.
    workdir: Option<PathBuf>,
    /// bash, zsh, sh or fish, by name or path; default bash.
    shell: Option<String>,
    /// With what login shells set up.
    #[serde(default = "yes")]
    login: bool,
    /// On a terminal.
    #[serde(default)]
    tty: bool,
    #[serde(default)]
    #[schemars(description = "pipe: keep standard input open for write_stdin, without a terminal.")]
    stdin: PipedStdin,
    #[schemars(
        description = "require_escalated asks a person to let it run with fewer restrictions.",
        extend("default" = SandboxPermissions::UseDefault)
    )]
    sandbox_permissions: Option<SandboxPermissions>,
    #[schemars(description = "Only with sandbox_permissions: one question to that person.")]
    justification: Option<String>,
    #[serde(default)]
    #[schemars(
        description = "First words of like commands to allow from now on, such as [\"git\", \"pull\"]."
    )]
    prefix_rule: Vec<String>,
    /// Milliseconds to wait for the end before replying with what there is.
    #[serde(default = "ten_seconds")]
    yield_time_ms: u64,
    #[schemars(
        description = "Reply once it listens on port, answers path there with status (200), printed text, or made file."
    )]
    ready: Option<ReadyArguments>,
    #[serde(default)]
    #[schemars(
        description = "Open these ports at 127.0.0.1 too.",
        title = "an array of ports (integers from 1 to 65535)"
    )]
    publish: Vec<NonZeroU16>,
    #[serde(flatten)]
    showing: WaitArguments,
    #[serde(flatten)]
    links: workflow::WorkflowArguments,
}

/// What standard input is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PipedStdin {
    /// At its end.
    #[default]
    None,
    /// Open.
    Pipe,
}

/// What the sandbox is to permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SandboxPermissions {
    /// What it permits everybody.
    UseDefault,
    /// More, if a person agrees.
    RequireEscalated,
}

const fn yes() -> bool {
    true
}

const fn ten_seconds() -> u64 {
    10_000
}

impl Arguments for ExecCommand {
    type Meaning = Opening;

    fn decode(self, caller: &Caller, limits: &Limits) -> Result<Opening, BadArgument> {
        let wish = wish(self.sandbox_permissions, self.justification, self.prefix_rule)?;
        let ready = self.ready.map(ReadyArguments::conditions).transpose()?.unwrap_or_default();
        let longest = if ready.is_empty() { LONGEST } else { LONGEST.max(limits.longest_poll) };
        let (wait, portion) = self.showing.within(self.yield_time_ms, (SHORTEST, longest), limits)?;
        let publish: BTreeSet<u16> = self.publish.into_iter().map(NonZeroU16::get).collect();
        let publish = publish.into_iter().collect();
        let is_probed = ready.iter().any(|ready| matches!(ready, Ready::Http { .. }));
        let (stdio, variables) = match (self.tty, self.stdin) {
            (true, _) => (Stdio::Terminal(Size::default()), ON_TERMINAL),
            (false, PipedStdin::Pipe) => (Stdio::Open, ON_PIPES),
            (false, PipedStdin::None) => (Stdio::Pipes, ON_PIPES),
        };
        let shell = self.shell.filter(|shell| !shell.is_empty());
        let work = Work::Script(Script { source: self.cmd, shell, login: self.login });
        let request = Request {
            door_env: variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            stdio,
            workflow: self.links.into(),
            wish,
            service: Service { is_probed, publish },
            ..Request::new(caller.clone(), work).in_directory(self.workdir)
        };
        Ok(Opening { request, wait: Wait { ready, ..wait }, portion })
    }
}

/// What the caller would like beyond the usual.
fn wish(
    permissions: Option<SandboxPermissions>,
    justification: Option<String>,
    prefix: Vec<String>,
) -> Result<Wish, BadArgument> {
    if permissions.is_none() && justification.is_some() {
        let what = "justification needs sandbox_permissions; leave it out, or say \
            sandbox_permissions=\"require_escalated\" to have a person asked";
        return Err(BadArgument::Contradiction(what.to_owned()));
    }
    let is_escalated = permissions == Some(SandboxPermissions::RequireEscalated);
    let confinement = if is_escalated { Confinement::Escalated } else { Confinement::Usual };
    Ok(Wish { confinement, justification, prefix })
}
