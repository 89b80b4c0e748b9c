//! `kill_session`: ends a command that went on without its caller.

use rmcp::model::ToolAnnotations;

use super::{Act, Limits, Tool};
use crate::params::{Kind, Need, Param};

pub(super) const TOOL: Tool = Tool {
    name: "kill_session",
    title: "End a command",
    description: "End a command that still runs, with everything it started.",
    alternative: None,
    annotations,
    params,
    output: None,
    act: Act::Stop,
};

fn annotations() -> ToolAnnotations {
    ToolAnnotations::new().read_only(false).destructive(true).open_world(true)
}

fn params(_: &Limits) -> Vec<Param> {
    vec![Param {
        name: "session_id",
        kind: Kind::Integer { min: 0, max: u64::MAX >> 12, default: 0 },
        need: Need::Required,
        description: "From the reply.",
    }]
}
