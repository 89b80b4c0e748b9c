//! The MCP endpoint: the protocol library, with sessions bound to their owners and commands bound to their callers.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::any_service;
use rmcp::ServerHandler;
use rmcp::model::ErrorCode;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use runward_model::Principal;
use tokio_util::sync::CancellationToken;

use super::answer::{is_json, protocol_error, refuse, sentence};
use super::leash::{Leash, Leashed};
use super::sessions::{Sessions, Visit};
use crate::Disconnected;

const SESSION_HEADER: &str = "mcp-session-id";

/// Serves MCP at one path until `streams` is cancelled, which ends every open stream.
pub(super) fn endpoint<H>(path: &str, mcp: H, max_body: usize, streams: CancellationToken) -> Router
where
    H: ServerHandler + Clone + Send + Sync + 'static,
{
    // Host and Origin are checked before, for every path.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(max_body)
        .with_json_response(true)
        .with_cancellation_token(streams);
    let sessions = Arc::new(Sessions::new());
    let service = StreamableHttpService::new(move || Ok(mcp.clone()), Arc::clone(&sessions), config);
    Router::new()
        .route(path, any_service(service))
        .route_layer(middleware::from_fn_with_state(sessions, attend))
}

/// Lets a caller into its own sessions only, and keeps hold of it until it has the whole answer.
async fn attend(State(sessions): State<Arc<Sessions>>, mut request: Request, next: Next) -> Response {
    let Some(caller) = request.extensions().get::<Principal>().cloned() else {
        return refuse(StatusCode::UNAUTHORIZED, "unauthorized", "nobody said who is calling");
    };
    let visit = match session_id(request.headers()).map(|id| sessions.enter(id, &caller)) {
        Some(Err(_not_yours)) => {
            return refuse(
                StatusCode::NOT_FOUND,
                "not_found",
                "there is no such session: initialize a new one",
            );
        }
        Some(Ok(visit)) => visit,
        None => None,
    };
    let disconnected = Disconnected(visit.as_ref().map_or_else(CancellationToken::new, Visit::token));
    let leash = Leash::new(&disconnected);
    request.extensions_mut().insert(disconnected);
    let sent_json = is_json(request.headers());

    let response = next.run(request).await;
    if let Some(id) = session_id(response.headers()) {
        sessions.claim(id, caller);
    }
    let response = if sent_json { explain_malformed(response).await } else { response };
    response.map(|body| Body::new(Leashed::new(body, leash, visit)))
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_HEADER)?.to_str().ok()
}

/// The protocol library blames the media type when a body that is JSON by its header cannot be read.
async fn explain_malformed(response: Response) -> Response {
    if response.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return response;
    }
    let said = sentence(response.into_body(), StatusCode::BAD_REQUEST).await;
    let reason = said.trim_start_matches("fail to deserialize request body").trim();
    // Its own words for JSON that is no message; everything else comes from the JSON reader.
    let code = if reason.contains("JSON-RPC") { ErrorCode::INVALID_REQUEST } else { ErrorCode::PARSE_ERROR };
    protocol_error(code.0, reason)
}
