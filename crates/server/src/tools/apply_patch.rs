//! `apply_patch`: files changed by a patch, all of it or nothing.

use std::path::PathBuf;

use rmcp::model::{JsonObject, ToolAnnotations};
use runward_model::{Argv, Caller, Captured, Request, Work};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Act, Limits, Refused, Reply, Run, Seen, Telling, Tool, receipt};
use crate::arguments::{Arguments, BadArgument, Decoder};

pub(super) const TOOL: Tool = Tool {
    name: "apply_patch",
    title: "Change files by a patch",
    description: "Add, delete, change and move files by one patch, all of it or nothing: `*** Begin Patch`, for each file \
        `*** Add File: PATH` and `+` lines, `*** Delete File: PATH`, or `*** Update File: PATH` (then maybe \
        `*** Move to: PATH`) and chunks, then `*** End Patch`. A chunk is `@@`, or `@@ LINE` to look after that line, \
        and lines that stay (begin with a space), go (`-`) or come (`+`), with some three around a change. \
        An error shows what was looked for and what stands there instead.",
    alternatives: &[],
    annotations,
    output: Some(output),
    act: Act::Run(Run { telling: Telling::Heartbeat, decoder: Decoder::of::<ApplyPatch>(), encode, refuse }),
};

/// It writes and removes files, and nothing beyond them; a second time, its lines are not found any more.
fn annotations() -> ToolAnnotations {
    ToolAnnotations::new().read_only(false).destructive(true).idempotent(false).open_world(false)
}

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct ApplyPatch {
    /// The patch, from `*** Begin Patch` to `*** End Patch`.
    #[schemars(length(min = 1))]
    patch: String,
    /// Directory that paths are relative to; left out or empty: the server's own.
    workdir: Option<PathBuf>,
}

impl Arguments for ApplyPatch {
    type Meaning = Request;

    fn decode(self, caller: &Caller, _: &Limits) -> Result<Request, BadArgument> {
        let work = Work::Argv(Argv { file: "apply_patch".to_owned(), args: vec![self.patch] });
        Ok(Request::new(caller.clone(), work).in_directory(self.workdir))
    }
}

/// The report, or why nothing was changed.
fn encode(seen: &Seen<'_>) -> Reply {
    let (view, policy) = (seen.view, receipt::of_run(&seen.view.receipt));
    let report = text(&view.stdout);
    let files = |letter: &str| -> Vec<&str> {
        report.lines().filter_map(|line| line.strip_prefix(letter)?.strip_prefix(' ')).collect()
    };
    let fields = |applied: bool| {
        rmcp::object!({
            "applied": applied,
            "added": files("A"),
            "modified": files("M"),
            "deleted": files("D"),
            "working_directory": view.receipt.cwd.to_string_lossy(),
            "policy": policy,
        })
    };
    if view.outcome.exit_code() == 0 {
        return Reply::ran(report.clone()).structured(fields(true));
    }
    failed(text(&view.stderr), fields(false))
}

/// Nothing was even tried.
fn refuse(refused: &Refused<'_>) -> Reply {
    let nothing: [&str; 0] = [];
    let policy = receipt::of_refusal(refused.refusal);
    let fields = rmcp::object!({
        "applied": false, "added": nothing, "modified": nothing, "deleted": nothing, "policy": policy,
    });
    failed(refused.refusal.to_string(), fields)
}

fn failed(error: String, mut fields: JsonObject) -> Reply {
    fields.insert("error".to_owned(), json!(error));
    Reply::failed(error).structured(fields)
}

fn text(captured: &Captured) -> String {
    let Captured { head, missing, tail } = captured;
    let [head, tail] = [head, tail].map(|bytes| String::from_utf8_lossy(bytes));
    if *missing == 0 {
        format!("{head}{tail}")
    } else {
        format!("{head}\n... {missing} bytes left out ...\n{tail}")
    }
}

fn output() -> JsonObject {
    let files = json!({ "type": "array", "items": { "type": "string" } });
    rmcp::object!({
        "type": "object",
        "properties": {
            "applied": { "type": "boolean" },
            "added": files,
            "modified": files,
            "deleted": files,
            "error": { "type": "string" },
            "working_directory": { "type": "string" },
            "policy": { "type": "object" },
        },
        "required": ["applied", "added", "modified", "deleted", "policy"],
    })
}
