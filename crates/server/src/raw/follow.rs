//! `GET /raw/{session}?from=SEQ`: takes up the events of a session, from any point.

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use runward_model::{OutputId, Principal};
use serde::Deserialize;

use super::{Raw, stream};
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
    let mut session = match raw.session(&principal, &OutputId(id)) {
        Ok(session) => session,
        Err(answer) => return *answer,
    };
    if session.events().is_some() && !session.resume() {
        let what = "another client reads this session; start it with detach to let others follow";
        return refuse(StatusCode::CONFLICT, "taken", what);
    }
    stream::answer(&raw, session, from)
}
