//! The answers that never reach a door: one JSON shape, each with a sentence that says what to do.

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::http::header::{ALLOW, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// More than any sentence that a door writes; what is longer is not a sentence.
const LONGEST_SENTENCE: usize = 4096;

/// An error as JSON: `{"error":{"code":…,"message":…}}`.
pub(crate) fn refuse(status: StatusCode, code: &str, message: &str) -> Response {
    (status, Json(json!({ "error": { "code": code, "message": message } }))).into_response()
}

/// 401, with the challenge that RFC 6750 wants.
pub(super) fn unauthorized(challenge: &'static str, message: &str) -> Response {
    let mut response = refuse(StatusCode::UNAUTHORIZED, "unauthorized", message);
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    response
}

/// A message that is not JSON-RPC, answered in JSON-RPC. It has no id that could be trusted.
pub(super) fn protocol_error(code: i32, message: &str) -> Response {
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}

/// What unknown paths get.
pub(super) async fn not_found() -> Response {
    refuse(
        StatusCode::NOT_FOUND,
        "not_found",
        "there is nothing here: MCP is at /mcp, the streaming endpoint at /raw, the health check at /healthz",
    )
}

/// What a known path gets when asked in an unknown way.
pub(super) async fn method_not_allowed() -> Response {
    refuse(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "this path does not take that method")
}

/// Gives an error that is plain text or empty the JSON shape; leaves every other response alone.
pub(super) async fn shape(response: Response) -> Response {
    let status = response.status();
    if !(status.is_client_error() || status.is_server_error()) || is_json(response.headers()) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let mut shaped = refuse(status, &code_of(status), &sentence(body, status).await);
    if let Some(allow) = parts.headers.get(ALLOW) {
        shaped.headers_mut().insert(ALLOW, allow.clone());
    }
    shaped
}

/// Whether a message says that it is JSON.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// The text of an error response.
pub(super) async fn sentence(body: Body, status: StatusCode) -> String {
    let text = to_bytes(body, LONGEST_SENTENCE).await.unwrap_or_default();
    match String::from_utf8_lossy(&text).trim() {
        "" => reason(status).to_lowercase(),
        text => text.to_owned(),
    }
}

fn code_of(status: StatusCode) -> String {
    reason(status).to_lowercase().replace(' ', "_")
}

fn reason(status: StatusCode) -> &'static str {
    status.canonical_reason().unwrap_or("error")
}
