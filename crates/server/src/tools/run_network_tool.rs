//! `run_network_tool`: a program and its arguments, with both outputs and the exit code for programs to read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use rmcp::model::JsonObject;
use runward_model::{Argv, Caller, Ending, Outcome, Request, Stream, Work};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::output::{Both, Outputs};
use super::{Act, Limits, Reply, Run, Seen, Telling, Tool, running, sandbox_note};
use crate::arguments::{Arguments, BadArgument, Decoder, Setting};
use crate::clean::complete;

/// What is shown of each output.
const MOST: usize = 1 << 20;

/// What an output ends with that was longer.
const TRUNCATED: &str = "...truncated...";

pub(super) const TOOL: Tool = Tool {
    name: "run_network_tool",
    title: "Run a program, structured",
    description: "Run one program without a shell and get stdout, stderr and exitCode (null when a signal ended it) as \
        structured content. Each output is cut at 1 MiB.",
    alternatives: &[],
    annotations: running::annotations,
    output: Some(schema),
    act: Act::Run(Run {
        telling: Telling::Heartbeat,
        decoder: Decoder::of::<RunNetworkTool>(),
        encode,
        refuse: running::refuse,
    }),
};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct RunNetworkTool {
    /// A name on PATH, or a path.
    #[schemars(length(min = 1))]
    executable: String,
    /// Its arguments.
    #[serde(default)]
    args: Vec<String>,
    /// Directory to run in.
    cwd: Option<PathBuf>,
    /// Additional variables.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Milliseconds until it is stopped.
    #[schemars(range(min = 1), extend("setting" = Setting::Timeout))]
    timeout_ms: u64,
}

impl Arguments for RunNetworkTool {
    type Meaning = Request;

    fn decode(self, caller: &Caller, _: &Limits) -> Result<Request, BadArgument> {
        let work = Work::Argv(Argv { file: self.executable, args: self.args });
        Ok(Request {
            env: self.env.into_iter().collect(),
            timeout: Some(Duration::from_millis(self.timeout_ms)),
            ..Request::new(caller.clone(), work).in_directory(self.cwd)
        })
    }
}

/// Nothing is required: the reply to a call that outlives its caller's patience has none of it yet.
fn schema() -> JsonObject {
    rmcp::object!({
        "type": "object",
        "properties": {
            "stdout": { "type": "string" },
            "stderr": { "type": "string" },
            "exitCode": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
        },
    })
}

/// The end of a command; only one that was stopped or lost has failed.
fn encode(seen: &Seen<'_>) -> Reply {
    let outcome = &seen.view.outcome;
    let code = match outcome.ending {
        Ending::Exited(code) => json!(code),
        Ending::Signaled(_) | Ending::Lost => Value::Null,
    };
    let fields = rmcp::object!({
        "stdout": shown((seen.beginning)(Stream::Stdout, MOST + 1)),
        "stderr": shown((seen.beginning)(Stream::Stderr, MOST + 1)),
        "exitCode": code,
    });
    let brief = Both::of(&seen.view.stdout, &seen.view.stderr).within(seen.limits.second_form());
    let text = if is_short(&fields, seen.limits.second_form()) {
        Value::Object(fields.clone()).to_string()
    } else {
        in_short(&brief, &fields)
    };
    let reply = match (outcome.stopped, outcome.ending) {
        (Some(reason), _) => Reply::failed(reason.to_string()).and(text),
        (None, Ending::Lost) => Reply::failed(Outcome::LOST).and(text),
        (None, _) => Reply::ran(text),
    };
    let output = seen.view.receipt.output.as_ref().filter(|_| seen.limits.offers_read_output);
    let rest = output.filter(|_| brief.truncated() > 0).map(|output| {
        format!("structured content has up to 1 MiB of each output; the whole can be read with read_output and output_id {output}")
    });
    let left = outcome.tree.left.map(|left| left.to_string());
    let notes = [sandbox_note(&seen.view.receipt, outcome), left, rest];
    let reply = notes.into_iter().flatten().fold(reply, |reply, note| reply.and(format!("note: {note}")));
    reply.structured(fields)
}

/// Whether both outputs may stand in a reply twice.
fn is_short(fields: &JsonObject, most: usize) -> bool {
    let length = |name: &str| fields.get(name).and_then(Value::as_str).map_or(0, str::len);
    length("stdout") + length("stderr") <= most
}

/// The same fields with both ends of each output.
fn in_short(brief: &Outputs, fields: &JsonObject) -> String {
    let code = fields.get("exitCode").unwrap_or(&Value::Null);
    json!({ "stdout": brief.stdout.text, "stderr": brief.stderr.text, "exitCode": code }).to_string()
}

/// An output as text, cut where it is too long.
fn shown(mut bytes: Vec<u8>) -> String {
    if bytes.len() <= MOST {
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    bytes.truncate(MOST);
    bytes.truncate(complete(&bytes));
    String::from_utf8_lossy(&bytes).into_owned() + TRUNCATED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_cut_behind_a_whole_character_and_says_so() {
        assert_eq!(shown(vec![b'a'; MOST]).len(), MOST);
        let cut = shown(vec![b'a'; MOST + 1]);
        assert_eq!((cut.len(), cut.ends_with("a...truncated...")), (MOST + TRUNCATED.len(), true));
        let split = [vec![b'a'; MOST - 1], "é".into()].concat();
        assert_eq!(shown(split).len(), MOST - 1 + TRUNCATED.len());
    }
}
