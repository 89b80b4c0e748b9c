//! A chunk of a session's output as a reply.

use std::time::Duration;

use rmcp::model::JsonObject;
use runward_engine::{Chunk, Run, Session};
use runward_files::random;
use runward_model::{Ending, Outcome, Receipt, Stream};
use serde_json::json;

use super::portion::Portion;
use super::truncate::{Ends, fit, tokens};
use crate::clean::clean;
use crate::tools::{Reply, receipt, sandbox_note};

/// What a session printed since the last reply, for models and for programs.
pub(crate) fn chunk(
    session: &Session,
    chunk: &Chunk,
    (wall, readiness): (Duration, Option<String>),
    portion: Portion,
) -> Reply {
    let id = format!("{:06x}", random::number() & 0xff_ffff);
    let seconds = wall.as_secs_f64();
    let (output, gone) = shown(chunk, portion, None);
    let count = tokens(chunk.bytes);
    let state = match &chunk.outcome {
        Some(outcome) => format!("Process exited with code {}", outcome.exit_code()),
        None => format!("Process running with session ID {}", session.id()),
    };
    let text = format!(
        "Chunk ID: {id}\nWall time: {seconds:.4} seconds\n{state}\nOriginal token count: {count}\nOutput:\n{output}"
    );
    let mut fields = rmcp::object!({
        "chunk_id": id,
        "wall_time_seconds": seconds,
        "original_token_count": count,
        "output": shown(chunk, portion.structured(output.len()), None).0,
        "policy": receipt::of_run(session.receipt()),
    });
    add_state(&mut fields, session, chunk);
    if portion.separate {
        for stream in Stream::BOTH {
            let (own, _) = shown(chunk, portion.of_one_stream(output.len()), Some(stream));
            fields.insert(stream.name().to_owned(), json!(own));
        }
    }
    let mut reply = Reply::ran(text);
    let mut notes: Vec<String> = readiness.into_iter().collect();
    notes.extend(chunk.outcome.iter().flat_map(|end| of_end(end, session.receipt())));
    if gone > 0 {
        notes.push(elsewhere(session));
    }
    if !notes.is_empty() {
        fields.insert("notes".to_owned(), json!(notes));
        reply = reply.and(format!("note: {}", notes.join("\nnote: ")));
    }
    reply.structured(fields)
}

/// Where all of an output is that a reply does not show.
pub(super) fn elsewhere(session: &Session) -> String {
    let output = session.receipt().output.as_ref().map_or("", |id| id.0.as_str());
    format!("the whole output is there with read_output, output_id {output}")
}

fn add_state(fields: &mut JsonObject, session: &Session, chunk: &Chunk) {
    if let Some(output) = &session.receipt().output {
        fields.insert("output_id".to_owned(), json!(output.0));
    }
    match &chunk.outcome {
        None => {
            fields.insert("session_id".to_owned(), json!(session.id().0));
        }
        Some(outcome) => {
            fields.insert("exit_code".to_owned(), json!(outcome.exit_code()));
            if let Ending::Signaled(signal) = outcome.ending {
                fields.insert("signal".to_owned(), json!(signal.to_string()));
            }
            match outcome.tree.left {
                Some(left) => fields.insert("session_id".to_owned(), json!(left.session)),
                None => fields.insert("background_ended".to_owned(), json!(outcome.tree.ended)),
            };
        }
    }
}

/// What else there is to say of the end.
pub(super) fn of_end(outcome: &Outcome, receipt: &Receipt) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(sandbox_note(receipt, outcome));
    if let Some(reason) = outcome.stopped {
        notes.push(format!("the command was stopped: {reason}"));
    }
    match outcome.tree.ended {
        0 => {}
        count => {
            let what = if count == 1 {
                "process that the command left behind was"
            } else {
                "processes that the command left behind were"
            };
            notes.push(format!("{count} background {what} ended; leave the & out, or end with wait, to have the session go on"));
        }
    }
    notes.extend(outcome.tree.left.map(|left| left.to_string()));
    if outcome.tree.kept {
        notes.push("processes that the command left behind go on without it".to_owned());
    }
    if let Some(hit) = outcome.limit_hit {
        notes.push(hit.to_string());
    }
    if outcome.output_cut {
        notes.push(
            "something still held the output open when the command had ended; the end may be missing"
                .to_owned(),
        );
    }
    notes
}

/// The output as a model reads it, within the budget, and how many tokens went; of one stream alone if it is named.
pub(super) fn shown(chunk: &Chunk, portion: Portion, only: Option<Stream>) -> (String, u64) {
    let text = |runs: &[Run]| -> (String, u64) {
        let wanted = runs.iter().filter(|run| only.is_none_or(|stream| run.stream == stream));
        let bytes: Vec<u8> = wanted.flat_map(|run| run.data.iter().copied()).collect();
        (clean(&String::from_utf8_lossy(&bytes)), bytes.len() as u64)
    };
    let ((head, head_bytes), (tail, tail_bytes)) = (text(&chunk.head), text(&chunk.tail));
    let [stdout, stderr] = chunk.missing;
    let (missing, printed) = match only {
        None => (stdout + stderr, chunk.bytes),
        Some(Stream::Stdout) => (stdout, head_bytes + stdout + tail_bytes),
        Some(Stream::Stderr) => (stderr, head_bytes + stderr + tail_bytes),
    };
    // What cleaning takes away is not missing.
    let cleaned = (head_bytes + tail_bytes).saturating_sub((head.len() + tail.len()) as u64);
    fit(&Ends { head: &head, missing, tail: &tail, printed, cleaned }, portion.bytes())
}

/// What programs are told, as a schema: the most useful of it, since every conversation pays for its length.
pub(super) fn schema() -> JsonObject {
    rmcp::object!({
        "type": "object",
        "properties": {
            "chunk_id": { "type": "string" },
            "wall_time_seconds": { "type": "number" },
            "exit_code": { "type": "integer" },
            "session_id": { "type": "integer" },
            "original_token_count": { "type": "integer" },
            "output": { "type": "string" },
            "output_id": { "type": "string" },
        },
        "required": ["chunk_id", "wall_time_seconds", "original_token_count", "output"],
    })
}
