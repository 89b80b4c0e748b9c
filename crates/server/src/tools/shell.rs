//! `shell`: a command line with variables of its own, and a result for programs and models alike.

mod encode;
mod schema;
mod why;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use runward_model::{Caller, Request, Work};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Act, Alternative, Limits, Run, Telling, Tool, running, workflow};
use crate::arguments::{Arguments, BadArgument, Decoder, Setting};

pub(super) const TOOL: Tool = Tool {
    name: "shell",
    title: "Run a shell command",
    description: "Run a shell command (bash, not a login shell): pipes, `&&`, variables, globs, loops and substitutions \
        work. A non-zero exit is an error that says why. Standard input is empty, so use options such as -y. Each call \
        is a fresh process. Every command must be allowed by the operator; a refusal says which would be. With a \
        progress token, output arrives while it runs.",
    alternatives: &[Alternative {
        tool: "execute_command",
        when: "shell or execute_command? shell for builds and tests (takes minutes, shows output without escape codes) \
            and to set variables; execute_command for `input`, exact output, or a non-zero exit that is an answer.",
    }],
    annotations: running::annotations,
    output: Some(schema::output),
    act: Act::Run(Run {
        telling: Telling::Output,
        decoder: Decoder::of::<Shell>(),
        encode: encode::encode,
        refuse: encode::refuse,
    }),
};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct Shell {
    /// The shell command to execute
    #[schemars(length(min = 1))]
    command: String,
    /// Working directory for command execution (optional, defaults to current directory)
    working_directory: Option<PathBuf>,
    #[schemars(range(min = 1), extend("setting" = Setting::ShellTimeout))]
    timeout: u64,
    /// Additional environment variables to set (optional)
    #[serde(default)]
    environment: BTreeMap<String, String>,
    #[serde(flatten)]
    links: workflow::WorkflowArguments,
}

impl Arguments for Shell {
    type Meaning = Request;

    fn decode(self, caller: &Caller, _: &Limits) -> Result<Request, BadArgument> {
        Ok(Request {
            env: self.environment.into_iter().collect(),
            timeout: Some(Duration::from_secs(self.timeout)),
            workflow: self.links.into(),
            ..Request::new(caller.clone(), Work::Line(self.command)).in_directory(self.working_directory)
        })
    }
}

#[cfg(test)]
mod tests;
