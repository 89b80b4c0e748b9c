//! `run_network_tool`: a program and its arguments, with both outputs and the exit code for programs to read.

use std::path::PathBuf;
use std::time::Duration;

use rmcp::model::JsonObject;
use runward_model::{Argv, Caller, Ending, Request, Stdio, Stream, Wish, Work, Workflow};
use serde_json::{Value, json};

use super::{Act, Limits, Reply, Run, Seen, Telling, Tool, running, sandbox_note};
use crate::clean::complete;
use crate::params::{Given, Kind, Need, Param};

/// What is shown of each output.
const MOST: usize = 1 << 20;

/// What an output ends with that was longer.
const TRUNCATED: &str = "...truncated...";

pub(super) const TOOL: Tool = Tool {
    name: "run_network_tool",
    title: "Run a program, structured",
    description: "Run one program without a shell and get stdout, stderr and exitCode (null when a signal ended it) as \
        structured content. Each output is cut at 1 MiB.",
    alternative: None,
    annotations: running::annotations,
    params,
    output: Some(schema),
    act: Act::Run(Run { telling: Telling::Heartbeat, decode, encode, refuse: running::refuse }),
};

fn params(limits: &Limits) -> Vec<Param> {
    let param = |name, kind, description| Param { name, kind, need: Need::Optional, description };
    vec![
        Param { need: Need::Required, ..param("executable", Kind::Word, "A name on PATH, or a path.") },
        param("args", Kind::TextList, "Its arguments."),
        param("cwd", Kind::Text, "Directory to run in."),
        param("env", Kind::TextMap, "Additional variables."),
        param("timeout_ms", running::timeout(limits), "Milliseconds until it is stopped."),
    ]
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

fn decode(mut given: Given, caller: Caller) -> Request {
    Request {
        caller,
        work: Work::Argv(Argv { file: given.word("executable"), args: given.texts("args") }),
        cwd: given.text("cwd").filter(|cwd| !cwd.is_empty()).map(PathBuf::from),
        env: given.map("env"),
        presets: &[],
        stdio: Stdio::Pipes,
        timeout: Some(Duration::from_millis(given.integer("timeout_ms"))),
        workflow: Workflow::default(),
        wish: Wish::default(),
    }
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
    let text = Value::Object(fields.clone()).to_string();
    let reply = match (outcome.stopped, outcome.ending) {
        (Some(reason), _) => Reply::failed(reason.to_string()).and(text),
        (None, Ending::Lost) => Reply::failed("nobody saw how it ended; its processes were ended").and(text),
        (None, _) => Reply::ran(text),
    };
    let reply = match sandbox_note(&seen.view.receipt, outcome) {
        Some(note) => reply.and(format!("note: {note}")),
        None => reply,
    };
    reply.structured(fields)
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
