//! `execute_command`: a command line as a person would type it.

use runward_model::{Caller, Request, Work};

use super::{Act, Alternative, Limits, Run, Telling, Tool, running};
use crate::params::{Given, Kind, Need, Param};

pub(super) const TOOL: Tool = Tool {
    name: "execute_command",
    title: "Run a command line",
    description: "Run a command line as you would type it in bash: pipes, redirections, `&&`, variables, globs, \
        loops and substitutions work. It runs to its end, and the reply is YAML with exit_code, stdout and stderr. \
        Every command in the line must be allowed by the operator; a refusal says which are. \
        Nothing can be typed while it runs: give `input` beforehand. \
        Each call is a fresh process: use `cwd` instead of `cd`; variables and background processes end with it.",
    alternative: Some(Alternative {
        tool: "execute_process",
        when: "For one program with awkward arguments use execute_process.",
    }),
    annotations: running::annotations,
    params,
    output: None,
    act: Act::Run(Run {
        telling: Telling::Heartbeat,
        decode,
        encode: running::encode,
        refuse: running::refuse,
    }),
};

fn params(limits: &Limits) -> Vec<Param> {
    let command = Param {
        name: "command",
        kind: Kind::Word,
        need: Need::Required,
        description: "The command line to run, for example `git log --oneline | head -5`.",
    };
    std::iter::once(command).chain(running::surroundings(limits)).collect()
}

fn decode(mut given: Given, caller: Caller) -> Request {
    running::request(Work::Line(given.word("command")), given, caller)
}
