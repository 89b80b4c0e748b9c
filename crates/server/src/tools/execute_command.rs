//! `execute_command`: a command line as a person would type it.

use runward_model::{Caller, Request, Work};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Act, Alternative, Limits, Run, Telling, Tool, running};
use crate::arguments::{Arguments, BadArgument, Decoder};

pub(super) const TOOL: Tool = Tool {
    name: "execute_command",
    title: "Run a command line",
    description: "Run a command line as you would type it in bash: pipes, redirections, `&&`, variables, globs, \
        loops and substitutions work. It runs to its end, and the reply is YAML with exit_code, stdout and stderr. \
        Every command in the line must be allowed by the operator; a refusal says which are. \
        Nothing can be typed while it runs: give `input` beforehand. \
        Each call is a fresh process: use `cwd` instead of `cd`; variables end with it, background processes go on.",
    alternatives: &[Alternative {
        tool: "execute_process",
        when: "For one program with awkward arguments use execute_process.",
    }],
    annotations: running::annotations,
    output: None,
    act: Act::Run(Run {
        telling: Telling::Heartbeat,
        decoder: Decoder::of::<ExecuteCommand>(),
        encode: running::encode,
        refuse: running::refuse,
    }),
};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct ExecuteCommand {
    /// The command line to run, for example `git log --oneline | head -5`.
    #[schemars(length(min = 1))]
    command: String,
    #[serde(flatten)]
    surroundings: running::Surroundings,
}

impl Arguments for ExecuteCommand {
    type Meaning = Request;

    fn decode(self, caller: &Caller, _: &Limits) -> Result<Request, BadArgument> {
        Ok(self.surroundings.request(Work::Line(self.command), caller))
    }
}
