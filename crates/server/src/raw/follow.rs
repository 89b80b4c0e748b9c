//! `GET /raw/{session}?from=SEQ`: takes up the events of a session, from any point.

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use runward_engine::Keeping;
use runward_model::{OutputId, Principal};
use serde::Deserialize;

use super::Raw;
use super::body::Leash;
use super::stream::{Presence, Reading};
use crate::http::refuse;

/// Where to begin.
#[derive(Debug, Deserialize)]
pub(super) struct From {
    #[serde(default)]
    from: u64,
}

/// Any number of readers follow a detached session; one that waits for its client has one at a time.
pub(super) async fn follow(
    State(raw): State<Raw>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    Query(From { from }): Query<From>,
) -> Response {
    let id = OutputId(id);
    let session = match raw.session(&principal, &id) {
        Ok(session) => session,
        Err(answer) => return *answer,
    };
    let tap = session.log().tapped();
    let Some((tap, keeping)) = tap.and_then(|tap| tap.keeping().map(|keeping| (tap, keeping))) else {
        return refuse(
            StatusCode::GONE,
            "gone",
            "its events are no longer kept; see read_output for what is left",
        );
    };
    let attended = raw.0.attendance.find(&id).unwrap_or_default();
    let leash = match (keeping, attended.patience) {
        (Keeping::UntilAcknowledged, Some(patience)) => Leash::Resumable(patience),
        (Keeping::OnDisk, _) => Leash::Detached,
        _ => {
            let what = "another client reads this session; start it with detach to let others follow";
            return refuse(StatusCode::CONFLICT, "taken", what);
        }
    };
    let presence = Presence::begin(&raw, &session, &tap, attended, leash);
    Reading::new(&raw, session, &tap, from, presence).into_response()
}
