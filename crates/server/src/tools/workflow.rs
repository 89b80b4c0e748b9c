//! How a run hangs together with others: the same for every tool that runs commands.

use runward_model::{Condition, OnFailure, OutputId, Workflow};

use crate::params::{Given, Kind, Need, Param};

/// What every tool that runs commands takes beside its own.
pub(super) fn params() -> [Param; 4] {
    let param = |name, kind, description| Param { name, kind, need: Need::Optional, description };
    [
        param("input_from", Kind::Word, "output_id whose stdout becomes stdin."),
        param("only_if", Kind::ExitOf, "Skip unless that run ended so."),
        param("request_key", Kind::Word, "A retry with the same key attaches, not reruns."),
        param("abort_on_failure", Kind::Switch, "Its failure stops all later runs."),
    ]
}

/// What was given of these.
pub(super) fn of(given: &mut Given) -> Workflow {
    let condition = |(output, exit_code)| Condition { output: OutputId(output), exit_code };
    Workflow {
        input_from: given.text("input_from").map(OutputId),
        key: given.text("request_key"),
        only_if: given.exit_of("only_if").map(condition),
        on_failure: if given.switch("abort_on_failure") { OnFailure::Abort } else { OnFailure::GoOn },
    }
}
