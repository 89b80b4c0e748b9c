//! What the tools that run one command to its end have in common.

use std::path::PathBuf;
use std::time::Duration;

use rmcp::model::ToolAnnotations;
use runward_model::{Caller, Ending, Refusal, Request, Stdio, Work};

use super::{Limits, Refused, Reply, Seen, receipt, workflow};
use crate::params::{Given, Kind, Need, Param};
use crate::yaml;

/// A command may do anything: it may destroy, reach out, and do something else the second time.
pub(super) fn annotations() -> ToolAnnotations {
    ToolAnnotations::new().read_only(false).destructive(true).idempotent(false).open_world(true)
}

/// Where the command runs, what it reads, how long it may take, and what it has to do with other runs.
pub(super) fn surroundings(limits: &Limits) -> impl Iterator<Item = Param> {
    let own = [
        Param {
            name: "cwd",
            kind: Kind::Text,
            need: Need::Optional,
            description: "Directory to run in; left out or empty: the server's own.",
        },
        Param {
            name: "input",
            kind: Kind::Text,
            need: Need::Optional,
            description: "Text for standard input, which is empty when left out.",
        },
        Param {
            name: "timeout_ms",
            kind: timeout(limits),
            need: Need::Optional,
            description: "Milliseconds until it is stopped with everything it started. Raise it for builds, \
                tests and downloads.",
        },
    ];
    own.into_iter().chain(workflow::params())
}

/// How long a command may take, in milliseconds.
pub(super) fn timeout(limits: &Limits) -> Kind {
    Kind::Integer {
        min: 1,
        max: milliseconds(limits.max_timeout),
        default: milliseconds(limits.default_timeout.min(limits.max_timeout)),
    }
}

/// A request for some work in the surroundings that the caller gave.
pub(super) fn request(work: Work, mut given: Given, caller: Caller) -> Request {
    Request {
        caller,
        work,
        cwd: given.text("cwd").filter(|cwd| !cwd.is_empty()).map(PathBuf::from),
        env: Vec::new(),
        presets: &[],
        stdio: given.text("input").map_or(Stdio::Pipes, |text| Stdio::Given(text.into_bytes())),
        timeout: Some(Duration::from_millis(given.integer("timeout_ms"))),
        workflow: workflow::of(&mut given),
        wish: runward_model::Wish::default(),
    }
}

/// The end of a command as a YAML mapping. Only a command that was stopped or lost has failed.
pub(super) fn encode(seen: &Seen<'_>) -> Reply {
    let view = seen.view;
    let failed = view.outcome.stopped.is_some() || view.outcome.ending == Ending::Lost;
    let text = yaml::reply(view);
    let reply = if failed { Reply::failed(text) } else { Reply::ran(text) };
    reply.receipt(receipt::of_run(&view.receipt))
}

/// The reason as it is.
pub(crate) fn refuse(refused: &Refused<'_>) -> Reply {
    let reply = Reply::failed(refused.refusal.to_string()).receipt(receipt::of_refusal(refused.refusal));
    if matches!(refused.refusal, Refusal::Skipped { .. }) { reply.harmless() } else { reply }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).max(1)
}
