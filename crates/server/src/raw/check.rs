//! `POST /check`: what would become of a request; nothing is run.

use axum::Extension;
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use runward_model::{Decision, Principal};
use serde_json::json;

use super::body::{self, Asked};
use super::{Raw, caller, refusal};

/// The verdict, the file that would be executed, and its hash.
pub(super) async fn check(
    State(raw): State<Raw>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let asked = body::decode(&body, caller(principal, &headers), &raw.0.settings);
    let Asked { request, .. } = match asked {
        Ok(asked) => asked,
        Err(sentence) => return refusal::malformed(&sentence),
    };
    match raw.0.engine.inspect(&request) {
        Ok(inspected) => {
            let verdict = &inspected.verdict;
            Json(json!({
                "allowed": verdict.decision == Decision::Allow,
                "decision": verdict.decision,
                "reason": verdict.reason,
                "path": inspected.program.as_ref().map(|program| program.to_string_lossy()),
                "hash": inspected.hash,
                "policy": verdict,
            }))
            .into_response()
        }
        Err(refused) => refusal::answer(&refused),
    }
}
