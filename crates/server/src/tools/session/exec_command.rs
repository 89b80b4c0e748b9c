//! `exec_command`: a command that may go on after the reply.

use std::path::PathBuf;
use std::time::Duration;

use runward_model::{Caller, Confinement, Request, Script, Size, Stdio, Wish, Work};

use super::super::{Act, Alternative, Limits, Tool, running, workflow};
use super::{Opening, encode, portion};
use crate::params::{Given, Kind, Need, Param};

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
    alternative: Some(Alternative { tool: "shell", when: "For a command that simply ends use shell." }),
    annotations: running::annotations,
    params,
    output: Some(encode::schema),
    act: Act::Keep(decode),
};

fn params(limits: &Limits) -> Vec<Param> {
    let text = |name, description| Param { name, kind: Kind::Text, need: Need::Optional, description };
    let own = [
        Param { name: "cmd", kind: Kind::Word, need: Need::Required, description: "Shell command." },
        text("workdir", "Directory to run in; left out or empty: the server's own."),
        text("shell", "bash, zsh, sh or fish, by name or path; default bash."),
        Param {
            name: "login",
            kind: Kind::SwitchOn,
            need: Need::Optional,
            description: "With what login shells set up.",
        },
        Param { name: "tty", kind: Kind::Switch, need: Need::Optional, description: "On a terminal." },
        Param {
            name: "stdin",
            kind: Kind::Choice(&["none", "pipe"]),
            need: Need::Optional,
            description: "pipe: keep standard input open for write_stdin, without a terminal.",
        },
        Param {
            name: "sandbox_permissions",
            kind: Kind::Choice(&["use_default", "require_escalated"]),
            need: Need::Optional,
            description: "require_escalated asks a person to let it run with fewer restrictions.",
        },
        text("justification", "Only with sandbox_permissions: one question to that person."),
        Param {
            name: "prefix_rule",
            kind: Kind::TextList,
            need: Need::Optional,
            description: "First words of like commands to allow from now on, such as [\"git\", \"pull\"].",
        },
    ];
    own.into_iter().chain(portion::params(10_000, limits)).chain(workflow::params()).collect()
}

fn decode(mut given: Given, caller: Caller, limits: &Limits) -> Result<Opening, String> {
    let (wait, portion) = (portion::wait(&mut given, SHORTEST, LONGEST)?, portion::of(&given, limits));
    let wish = wish(&mut given)?;
    let (stdio, presets) = match (given.switch("tty"), given.text("stdin").as_deref()) {
        (true, _) => (Stdio::Terminal(Size::default()), ON_TERMINAL),
        (false, Some("pipe")) => (Stdio::Open, ON_PIPES),
        (false, _) => (Stdio::Pipes, ON_PIPES),
    };
    let shell = given.text("shell").filter(|shell| !shell.is_empty());
    let request = Request {
        caller,
        work: Work::Script(Script { source: given.word("cmd"), shell, login: given.switch("login") }),
        cwd: given.text("workdir").filter(|workdir| !workdir.is_empty()).map(PathBuf::from),
        env: Vec::new(),
        presets,
        stdio,
        timeout: None,
        workflow: workflow::of(&mut given),
        wish,
    };
    Ok(Opening { request, wait, portion })
}

/// What the caller would like beyond the usual.
fn wish(given: &mut Given) -> Result<Wish, String> {
    let (permissions, justification) = (given.text("sandbox_permissions"), given.text("justification"));
    if permissions.is_none() && justification.is_some() {
        return Err("justification needs sandbox_permissions; leave it out, or say \
            sandbox_permissions=\"require_escalated\" to have a person asked"
            .to_owned());
    }
    let is_escalated = permissions.as_deref() == Some("require_escalated");
    let confinement = if is_escalated { Confinement::Escalated } else { Confinement::Usual };
    Ok(Wish { confinement, justification, prefix: given.texts("prefix_rule") })
}
