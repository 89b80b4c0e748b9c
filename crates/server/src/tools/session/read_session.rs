//! `read_session`: reads again what a session printed, or what its terminal shows.

use rmcp::model::{JsonObject, ToolAnnotations};
use runward_engine::{Chunk, Session};
use runward_model::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::{Act, Limits, Reply, Tool};
use super::truncate::tokens;
use super::{Look, Portion, SessionArgument, encode, screen};
use crate::arguments::{Arguments, BadArgument, Decoder, Setting};

pub(in super::super) const TOOL: Tool = Tool {
    name: "read_session",
    title: "Read a session again",
    description: "Read what a session printed without consuming it, or what its terminal shows now.",
    alternatives: &[],
    annotations,
    output: Some(schema),
    act: Act::Look(Decoder::of::<ReadSession>()),
};

fn annotations() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).open_world(false)
}

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct ReadSession {
    #[serde(flatten)]
    which: SessionArgument,
    #[serde(default)]
    #[schemars(description = "From this sequence number on: next_seq of an earlier reply.")]
    since: u64,
    /// The terminal's screen as text.
    #[serde(default)]
    screen: bool,
    /// Show at most so many tokens.
    #[schemars(extend("setting" = Setting::ReplyTokens))]
    max_output_tokens: u64,
}

impl Arguments for ReadSession {
    type Meaning = Look;

    fn decode(self, _: &Caller, limits: &Limits) -> Result<Look, BadArgument> {
        Ok(Look {
            session: self.which.id(),
            since: self.since,
            screen: self.screen,
            portion: Portion::of(self.max_output_tokens, false, limits),
        })
    }
}

fn schema() -> JsonObject {
    rmcp::object!({
        "type": "object",
        "properties": {
            "session_id": { "type": "integer" },
            "running": { "type": "boolean" },
            "exit_code": { "type": "integer" },
            "next_seq": { "type": "integer" },
            "output": { "type": "string" },
            "screen": { "type": "string" },
        },
        "required": ["session_id", "running", "next_seq"],
    })
}

/// What was looked at: a part of the output, or the screen.
pub(crate) fn looked(session: &Session, chunk: &Chunk, look: &Look) -> Reply {
    let state = match &chunk.outcome {
        Some(outcome) => format!("Process exited with code {}", outcome.exit_code()),
        None => format!("Process running with session ID {}", session.id()),
    };
    let mut fields = rmcp::object!({
        "session_id": session.id().0,
        "running": chunk.outcome.is_none(),
        "next_seq": chunk.position,
    });
    if let Some(outcome) = &chunk.outcome {
        fields.insert("exit_code".to_owned(), json!(outcome.exit_code()));
    }
    if look.screen {
        return screened(session, &state, fields);
    }
    let (output, gone) = encode::shown(chunk, look.portion, None);
    let text = format!(
        "{state}\nNext sequence number: {}\nOriginal token count: {}\nOutput:\n{output}",
        chunk.position,
        tokens(chunk.bytes)
    );
    let (second, _) = encode::shown(chunk, look.portion.structured(output.len()), None);
    fields.insert("output".to_owned(), json!(second));
    let reply = Reply::ran(text).structured(fields);
    if gone > 0 { reply.and(format!("note: {}", encode::elsewhere(session))) } else { reply }
}

fn screened(session: &Session, state: &str, mut fields: JsonObject) -> Reply {
    let Some(size) = session.size() else {
        return Reply::failed("this session has no terminal; start it with tty=true to have a screen");
    };
    let shown = screen::draw(session, size);
    let screen::Drawn { text, row, column, title } = shown;
    let place =
        format!("Screen: {} rows, {} columns, cursor at row {row}, column {column}", size.rows, size.cols);
    fields.insert("screen".to_owned(), json!(text));
    fields.insert("cursor".to_owned(), json!({ "row": row, "column": column }));
    if !title.is_empty() {
        fields.insert("title".to_owned(), json!(title));
    }
    Reply::ran(format!("{state}\n{place}\n{text}\n")).structured(fields)
}
