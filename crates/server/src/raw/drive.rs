//! What goes to a session that runs: input, signals, sizes, word of what has arrived, and its end.

use axum::Extension;
use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use runward_engine::{NotTaken, Session};
use runward_model::{OutputId, Principal, Signal, StopReason};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Raw, body, refusal};
use crate::http::refuse;
use crate::json;

/// Where some input belongs.
#[derive(Debug, Deserialize)]
pub(super) struct Position {
    /// How many bytes come before it; absent means behind everything that came.
    at: Option<u64>,
    /// Whether the input ends with it.
    #[serde(default)]
    end: bool,
}

/// Answers once the command has room for more: a sender is as fast as its reader.
pub(super) async fn stdin(
    State(raw): State<Raw>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    Query(Position { at, end }): Query<Position>,
    body: Bytes,
) -> Response {
    let session = match raw.session(&principal, &OutputId(id)) {
        Ok(session) => session,
        Err(answer) => return *answer,
    };
    // Sessions of other doors are not written to here.
    if session.events().is_none() {
        return not_taken(&NotTaken::Closed);
    }
    let written = session.write_at(at, &body).await;
    match written.and_then(|written| if end { session.close_input().map(|()| written) } else { Ok(written) })
    {
        Ok(written) => Json(json!({ "written": written })).into_response(),
        Err(refused) => not_taken(&refused),
    }
}

/// `{"signal":"INT"}`, to whoever is in the foreground.
pub(super) async fn signal(
    State(raw): State<Raw>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    body: Bytes,
) -> Response {
    raw.drive(&principal, id, &body, |session, fields| {
        let signal = fields.get("signal").and_then(named);
        session.signal(signal.ok_or("signal must be a name such as INT, TERM or KILL, or a number")?);
        Ok(())
    })
}

/// `{"rows":24,"cols":80}`, for a session on a terminal.
pub(super) async fn resize(
    State(raw): State<Raw>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    body: Bytes,
) -> Response {
    raw.drive(&principal, id, &body, |session, fields| {
        session.resize(body::size(fields)?);
        Ok(())
    })
}

/// `{"seq":7}`: every event up to this one has arrived, and need not be kept.
pub(super) async fn acknowledge(
    State(raw): State<Raw>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    body: Bytes,
) -> Response {
    raw.drive(&principal, id, &body, |session, fields| {
        let seq = fields.get("seq").and_then(Value::as_u64).ok_or("seq must be the number of an event")?;
        if let Some(tap) = session.events() {
            tap.acknowledge(seq);
        }
        Ok(())
    })
}

/// Ends a session and everything that it started.
pub(super) async fn stop(
    State(raw): State<Raw>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
) -> Response {
    raw.drive(&principal, id, b"{}", |session, _| {
        session.stop(StopReason::Cancelled);
        Ok(())
    })
}

impl Raw {
    /// A session of this caller by its name, or the answer that says why there is none.
    pub(super) fn session(&self, principal: &Principal, id: &OutputId) -> Result<Session, Box<Response>> {
        let found = self.0.engine.session_of(principal, id);
        found.map_err(|gone| Box::new(refuse(StatusCode::NOT_FOUND, "no_such_session", &gone.to_string())))
    }

    fn drive(
        &self,
        principal: &Principal,
        id: String,
        body: &[u8],
        act: impl FnOnce(&Session, &Value) -> Result<(), String>,
    ) -> Response {
        let session = match self.session(principal, &OutputId(id)) {
            Ok(session) => session,
            Err(answer) => return *answer,
        };
        if let Some(fault) = json::fault(body) {
            return refusal::malformed(&format!("in the body {fault}"));
        }
        let Ok(fields) = serde_json::from_slice(body) else {
            return refusal::malformed("the body is not JSON");
        };
        match act(&session, &fields) {
            Ok(()) => Json(json!({})).into_response(),
            Err(sentence) => refusal::malformed(&sentence),
        }
    }
}

fn not_taken(refused: &NotTaken) -> Response {
    let code = if let NotTaken::Missing { .. } = refused { "input_missing" } else { "input_closed" };
    refuse(StatusCode::CONFLICT, code, &refused.to_string())
}

/// `INT`, `SIGINT` or 2.
fn named(value: &Value) -> Option<Signal> {
    let mut all = Signal::all();
    match value {
        Value::Number(number) => all.find(|signal| number.as_i64() == Some(signal.0.into())),
        Value::String(name) => {
            let name = name.to_ascii_uppercase();
            all.find(|signal| signal.to_string().strip_prefix("SIG") == Some(name.trim_start_matches("SIG")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_known_by_both_names_and_by_its_number() {
        for value in [json!("INT"), json!("SIGINT"), json!("int"), json!(2)] {
            assert_eq!(named(&value), Some(Signal(2)), "{value}");
        }
        for value in [json!("NONE"), json!(0), json!(65), json!(null), json!("2")] {
            assert_eq!(named(&value), None, "{value}");
        }
    }
}
