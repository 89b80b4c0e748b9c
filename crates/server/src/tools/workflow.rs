//! How a run hangs together with others: the same for every tool that runs commands.

use runward_model::{Condition, OnFailure, OutputId, Workflow};
use schemars::JsonSchema;
use serde::Deserialize;

/// What every tool that runs commands takes beside its own.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct WorkflowArguments {
    #[schemars(length(min = 1), description = "output_id whose stdout becomes stdin.")]
    input_from: Option<String>,
    /// Skip unless that run ended so.
    only_if: Option<EarlierEnd>,
    /// A retry with the same key attaches, not reruns.
    #[schemars(length(min = 1))]
    request_key: Option<String>,
    /// Its failure stops all later runs.
    #[serde(default)]
    abort_on_failure: bool,
}

/// How an earlier run must have ended.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(title = "an object with output_id (a string) and exit_code (an integer)")]
struct EarlierEnd {
    #[schemars(length(min = 1))]
    output_id: String,
    #[schemars(range(min = i32::MIN, max = i32::MAX))]
    exit_code: i32,
}

impl From<WorkflowArguments> for Workflow {
    fn from(links: WorkflowArguments) -> Self {
        let condition =
            |ended: EarlierEnd| Condition { output: OutputId(ended.output_id), exit_code: ended.exit_code };
        Workflow {
            input_from: links.input_from.map(OutputId),
            key: links.request_key,
            only_if: links.only_if.map(condition),
            on_failure: if links.abort_on_failure { OnFailure::Abort } else { OnFailure::GoOn },
        }
    }
}
