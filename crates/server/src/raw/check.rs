//! `POST /check`: what would become of a request; nothing is run.

use axum::Extension;
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use runward_model::stream::Checked;
use runward_model::{Decision, Principal, Refusal};
use serde_json::json;

use super::body::Asked;
use super::{Raw, caller, refusal};
use crate::json;

/// The verdict, the file that would be executed, and its hash.
pub(super) async fn check(
    State(raw): State<Raw>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let size = body.len();
    let Asked { request, .. } = match raw.decode(body, caller(principal, &headers)).await {
        Ok(asked) => asked,
        Err(answer) => return *answer,
    };
    let engine = raw.0.engine.clone();
    let inspected = json::aside(size, move || engine.inspect(&request)).await;
    match inspected.unwrap_or(Err(Refusal::ShuttingDown)) {
        Ok(inspected) => {
            let verdict = inspected.verdict;
            let checked = Checked {
                allowed: verdict.decision == Decision::Allow,
                decision: verdict.decision,
                reason: verdict.reason.clone(),
                path: inspected.program.map(|program| program.to_string_lossy().into_owned()),
                hash: inspected.hash,
                policy: verdict,
            };
            Json(json!(checked)).into_response()
        }
        Err(refused) => refusal::answer(&refused),
    }
}
