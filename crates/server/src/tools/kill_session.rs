//! `kill_session`: ends a command that went on without its caller.

use rmcp::model::ToolAnnotations;
use runward_model::{Caller, SessionId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Act, Limits, Tool, session};
use crate::arguments::{Arguments, BadArgument, Decoder};

pub(super) const TOOL: Tool = Tool {
    name: "kill_session",
    title: "End a command",
    description: "End a command that still runs, with everything it started.",
    alternatives: &[],
    annotations,
    output: None,
    act: Act::Stop(Decoder::of::<KillSession>()),
};

fn annotations() -> ToolAnnotations {
    ToolAnnotations::new().read_only(false).destructive(true).open_world(true)
}

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct KillSession {
    #[serde(flatten)]
    which: session::SessionArgument,
}

impl Arguments for KillSession {
    type Meaning = SessionId;

    fn decode(self, _: &Caller, _: &Limits) -> Result<SessionId, BadArgument> {
        Ok(self.which.id())
    }
}
