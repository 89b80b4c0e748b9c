//! `shell`: a command line with variables of its own, and a result for programs and models alike.

mod encode;
mod output;
mod schema;
mod why;

use std::path::PathBuf;
use std::time::Duration;

use runward_model::{Caller, Request, Stdio, Work};

use super::{Act, Alternative, Limits, Run, Telling, Tool, running, workflow};
use crate::params::{Given, Kind, Need, Param};

pub(super) const TOOL: Tool = Tool {
    name: "shell",
    title: "Run a shell command",
    description: "Run a shell command (bash, not a login shell) and get its exit code, stdout and stderr: pipes, `&&`, \
        variables, globs, loops and substitutions work. A non-zero exit is an error that says why it failed. \
        Standard input is empty, so use options such as -y instead of answering questions. Each call is a \
        fresh process. Every command must be allowed by the operator; a refusal says which rule it was and what \
        would be allowed. With a progress token, output arrives while it runs.",
    alternative: Some(Alternative {
        tool: "execute_process",
        when: "For one program whose arguments hold quotes, `$` or text from elsewhere use execute_process.",
    }),
    annotations: running::annotations,
    params,
    output: Some(schema::output),
    act: Act::Run(Run { telling: Telling::Output, decode, encode: encode::encode, refuse: encode::refuse }),
};

/// The default that the tool's description speaks of.
const SPEC_TIMEOUT: Duration = Duration::from_mins(5);

fn params(limits: &Limits) -> Vec<Param> {
    let (max, default) = (limits.shell_max_timeout, limits.shell_default_timeout);
    let own = [
        Param {
            name: "command",
            kind: Kind::Word,
            need: Need::Required,
            description: "The shell command to execute",
        },
        Param {
            name: "working_directory",
            kind: Kind::Text,
            need: Need::Optional,
            description: "Working directory for command execution (optional, defaults to current directory)",
        },
        Param {
            name: "timeout",
            kind: Kind::Integer { min: 1, max: seconds(max), default: seconds(default.min(max)) },
            need: Need::Optional,
            description: if default.min(max) == SPEC_TIMEOUT {
                "Command timeout in seconds (optional, defaults to 300 seconds / 5 minutes)"
            } else {
                "Command timeout in seconds (optional)"
            },
        },
        Param {
            name: "environment",
            kind: Kind::TextMap,
            need: Need::Optional,
            description: "Additional environment variables to set (optional)",
        },
    ];
    own.into_iter().chain(workflow::params()).collect()
}

fn decode(mut given: Given, caller: Caller) -> Request {
    let directory = given.text("working_directory").filter(|directory| !directory.is_empty());
    Request {
        caller,
        work: Work::Line(given.word("command")),
        cwd: directory.map(PathBuf::from),
        env: given.map("environment"),
        presets: &[],
        stdio: Stdio::Pipes,
        timeout: Some(Duration::from_secs(given.integer("timeout"))),
        workflow: workflow::of(&mut given),
        wish: runward_model::Wish::default(),
    }
}

fn seconds(duration: Duration) -> u64 {
    duration.as_secs().max(1)
}

#[cfg(test)]
mod tests;
