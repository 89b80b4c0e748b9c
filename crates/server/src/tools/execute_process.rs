//! `execute_process`: a program and its arguments, with no shell between.

use runward_model::{Argv, Caller, Request, Work};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Act, Alternative, Limits, Run, Telling, Tool, running};
use crate::arguments::{Arguments, BadArgument, Decoder};

pub(super) const TOOL: Tool = Tool {
    name: "execute_process",
    title: "Run a program with arguments",
    description: "Run one program with a list of arguments, without a shell: every argument reaches the program \
        exactly as given, nothing is quoted or expanded. \
        Prefer this for a single program, above all when arguments hold spaces, quotes, `$` or text from elsewhere. \
        It runs to its end, and the reply is YAML with exit_code, stdout and stderr. \
        The program must be allowed by the operator; a refusal says which are.",
    alternatives: &[Alternative {
        tool: "execute_command",
        when: "For pipes, redirections, globs or several commands use execute_command.",
    }],
    annotations: running::annotations,
    output: None,
    act: Act::Run(Run {
        telling: Telling::Heartbeat,
        decoder: Decoder::of::<ExecuteProcess>(),
        encode: running::encode,
        refuse: running::refuse,
    }),
};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct ExecuteProcess {
    /// The program: a name to look up on PATH, such as `git`, or a path.
    #[schemars(length(min = 1))]
    file: String,
    #[serde(default)]
    #[schemars(
        description = "Its arguments, one string each, without the program itself: [\"log\", \"--oneline\"]."
    )]
    args: Vec<String>,
    #[serde(flatten)]
    surroundings: running::Surroundings,
}

impl Arguments for ExecuteProcess {
    type Meaning = Request;

    fn decode(self, caller: &Caller, _: &Limits) -> Result<Request, BadArgument> {
        let ExecuteProcess { file, args, surroundings } = self;
        Ok(surroundings.request(Work::Argv(Argv { file, args }), caller))
    }
}
