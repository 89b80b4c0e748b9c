//! What the tools that run one command to its end have in common.

use std::path::PathBuf;
use std::time::Duration;

use rmcp::model::ToolAnnotations;
use runward_model::{Caller, Ending, Refusal, Request, Stdio, Work};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Refused, Reply, Seen, receipt, workflow};
use crate::arguments::Setting;
use crate::yaml;

/// A command may do anything: it may destroy, reach out, and do something else the second time.
pub(super) fn annotations() -> ToolAnnotations {
    ToolAnnotations::new().read_only(false).destructive(true).idempotent(false).open_world(true)
}

/// Where the command runs, what it reads, how long it may take, and what it has to do with other runs.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Surroundings {
    /// Directory to run in; left out or empty: the server's own.
    cwd: Option<PathBuf>,
    /// Text for standard input, which is empty when left out.
    input: Option<String>,
    /// Milliseconds until it is stopped with everything it started. Raise it for builds, tests and downloads.
    #[schemars(range(min = 1), extend("setting" = Setting::Timeout))]
    timeout_ms: u64,
    #[serde(flatten)]
    links: workflow::WorkflowArguments,
}

impl Surroundings {
    /// A request for some work in them.
    pub(super) fn request(self, work: Work, caller: &Caller) -> Request {
        Request {
            stdio: self.input.map_or(Stdio::Pipes, |text| Stdio::Given(text.into_bytes())),
            timeout: Some(Duration::from_millis(self.timeout_ms)),
            workflow: self.links.into(),
            ..Request::new(caller.clone(), work).in_directory(self.cwd)
        }
    }
}

/// The end of a command as a YAML mapping. Only a command that was stopped or lost has failed.
pub(super) fn encode(seen: &Seen<'_>) -> Reply {
    let view = seen.view;
    let failed = view.outcome.stopped.is_some() || view.outcome.ending == Ending::Lost;
    let text = yaml::reply(view, seen.limits.room());
    let reply = if failed { Reply::failed(text) } else { Reply::ran(text) };
    reply.receipt(receipt::of_run(&view.receipt))
}

/// The reason as it is.
pub(crate) fn refuse(refused: &Refused<'_>) -> Reply {
    let reply = Reply::failed(refused.refusal.to_string()).receipt(receipt::of_refusal(refused.refusal));
    if matches!(refused.refusal, Refusal::Skipped { .. }) { reply.harmless() } else { reply }
}
