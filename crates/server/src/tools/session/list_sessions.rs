//! `list_sessions`: the commands that go on, and those whose end nobody has been told.

use rmcp::model::{JsonObject, ToolAnnotations};
use runward_engine::Summary;
use runward_model::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::{Act, Limits, Reply, Tool};
use crate::arguments::{Arguments, BadArgument, Decoder};

pub(in super::super) const TOOL: Tool = Tool {
    name: "list_sessions",
    title: "List sessions",
    description: "List the sessions that go on, with the ports they listen on, and those that ended.",
    alternatives: &[],
    annotations,
    output: Some(schema),
    act: Act::List(Decoder::of::<ListSessions>()),
};

fn annotations() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).open_world(false)
}

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct ListSessions {}

impl Arguments for ListSessions {
    type Meaning = ();

    fn decode(self, _: &Caller, _: &Limits) -> Result<(), BadArgument> {
        Ok(())
    }
}

fn schema() -> JsonObject {
    rmcp::object!({
        "type": "object",
        "properties": { "sessions": { "type": "array", "items": { "type": "object" } } },
        "required": ["sessions"],
    })
}

/// The sessions of a caller, oldest first.
pub(crate) fn list(sessions: &[Summary]) -> Reply {
    let text =
        if sessions.is_empty() { "no sessions\n".to_owned() } else { sessions.iter().map(line).collect() };
    let fields: Vec<Value> = sessions.iter().map(entry).collect();
    Reply::ran(text).structured(rmcp::object!({ "sessions": fields }))
}

fn line(session: &Summary) -> String {
    let Summary { id, command, age, unread, .. } = session;
    let state = match (session.exit_code, session.is_running) {
        (None, _) => "running".to_owned(),
        (Some(code), false) => format!("exited with code {code}"),
        (Some(code), true) => format!("exited with code {code}, and what it left behind goes on"),
    };
    let places = |what: &str, ports: &[u16], before: &str| {
        let ports: Vec<String> = ports.iter().map(|port| format!("{before}{port}")).collect();
        if ports.is_empty() { String::new() } else { format!(", {what} {}", ports.join(", ")) }
    };
    let listens = places("listens on", &session.ports, "");
    let published = places("published at", &session.published, "127.0.0.1:");
    let tty = if session.is_terminal { ", tty" } else { "" };
    let command = command.lines().next().unwrap_or_default();
    format!(
        "{id}: {state}, {} s old{tty}{listens}{published}, {unread} unread bytes: {command}\n",
        age.as_secs()
    )
}

fn entry(session: &Summary) -> Value {
    json!({
        "session_id": session.id.0,
        "command": session.command,
        "running": session.is_running,
        "exit_code": session.exit_code,
        "tty": session.is_terminal,
        "ports": session.ports,
        "published": session.published,
        "age_seconds": session.age.as_secs_f64(),
        "idle_seconds": session.idle.as_secs_f64(),
        "unread_bytes": session.unread,
    })
}
