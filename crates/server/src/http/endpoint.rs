//! The MCP endpoint: the protocol library, with sessions bound to their owners and commands bound to their callers.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::any_service;
use rmcp::ServerHandler;
use rmcp::model::ErrorCode;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use runward_model::Principal;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::answer::{is_json, protocol_error, refuse, sentence};
use super::leash::{Leash, Leashed};
use super::sessions::{Leaving, Sessions, Visit, on_behalf_of};
use crate::mcp::InSession;
use crate::{Disconnected, json};

const SESSION_HEADER: &str = "mcp-session-id";

/// What is still open at the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Open {
    /// Every answer that somebody waits for.
    pub(crate) answers: TaskTracker,
    /// Cancelling it ends every stream, answered or not.
    pub(crate) streams: CancellationToken,
}

#[derive(Clone)]
struct Attendance {
    sessions: Arc<Sessions>,
    answers: TaskTracker,
}

/// Serves MCP at one path.
pub(super) fn endpoint<H>(path: &str, mcp: H, max_body: usize, open: Open, leaving: Leaving) -> Router
where
    H: ServerHandler + Clone + Send + Sync + 'static,
{
    // Host and Origin are checked before, for every path.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(max_body)
        .with_json_response(true)
        .with_cancellation_token(open.streams);
    let sessions = Arc::new(Sessions::new(leaving));
    let service = StreamableHttpService::new(move || Ok(mcp.clone()), Arc::clone(&sessions), config);
    let attendance = Attendance { sessions, answers: open.answers };
    Router::new()
        .route(path, any_service(service))
        .route_layer(middleware::from_fn_with_state(attendance, attend))
        .route_layer(middleware::from_fn_with_state(max_body, look))
}

/// Looks at a message before the protocol library makes anything of it.
async fn look(State(max_body): State<usize>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST || !is_json(request.headers()) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    // A body that announced to be longer was refused before.
    let Ok(body) = to_bytes(body, max_body).await else {
        let what = format!(
            "the body broke off, or has more than the {max_body} bytes that are read (http.max_body)"
        );
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", &what);
    };
    let read = body.clone();
    match json::aside(body.len(), move || json::fault(&read)).await.flatten() {
        Some(fault) => protocol_error(ErrorCode::INVALID_REQUEST.0, &format!("in the message {fault}")),
        None => next.run(Request::from_parts(parts, Body::from(body))).await,
    }
}

/// Lets a caller into its own sessions only, and keeps hold of it until it has the whole answer.
async fn attend(State(attendance): State<Attendance>, mut request: Request, next: Next) -> Response {
    let Attendance { sessions, answers } = attendance;
    let Some(caller) = request.extensions().get::<Principal>().cloned() else {
        return refuse(StatusCode::UNAUTHORIZED, "unauthorized", "nobody said who is calling");
    };
    let session = session_id(request.headers()).map(str::to_owned);
    let visit = match session.as_deref().map(|id| sessions.enter(id, &caller)) {
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
    if let (Some(_), Some(id)) = (&visit, &session) {
        request.extensions_mut().insert(InSession::new(caller.clone(), id));
    }
    let sent_json = is_json(request.headers());
    // The protocol library looks at how the type begins.
    if request.method() == Method::POST && !sent_json {
        let what = "the body has to be JSON: send it with `Content-Type: application/json`";
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", what);
    }
    // What a GET opens is a stream without an end, which nobody waits for.
    let owed = (request.method() == Method::POST).then(|| answers.token());

    let response = on_behalf_of(caller.clone(), next.run(request)).await;
    if let Some(id) = session_id(response.headers()) {
        sessions.claim(id, caller);
    }
    let response = if sent_json { explain_malformed(response).await } else { response };
    response.map(|body| Body::new(Leashed::new(body, leash, (visit, owed))))
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

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tower::Service;

    use super::*;

    #[derive(Clone)]
    struct Silent;

    impl ServerHandler for Silent {}

    async fn ask(
        endpoint: &mut Router,
        caller: &Principal,
        request: axum::http::request::Builder,
        body: Body,
    ) -> Response {
        let request =
            request.uri("/mcp").header("host", "localhost").header("content-type", "application/json");
        let mut request =
            request.header("accept", "application/json, text/event-stream").body(body).expect("a request");
        request.extensions_mut().insert(caller.clone());
        endpoint.call(request).await.expect("an answer")
    }

    async fn initialize(endpoint: &mut Router, caller: &Principal) -> String {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let answer =
            ask(endpoint, caller, Request::builder().method(Method::POST), message.to_string().into()).await;
        session_id(answer.headers()).expect("a session").to_owned()
    }

    #[tokio::test]
    async fn a_session_of_one_principal_does_not_exist_for_another() {
        let mut endpoint = endpoint("/mcp", Silent, 1000, Open::default(), Leaving::default());
        let session = initialize(&mut endpoint, &Principal::local()).await;
        let stranger = Principal::token_holder();
        for method in [Method::POST, Method::GET, Method::DELETE] {
            let request = Request::builder().method(&method).header(SESSION_HEADER, &session);
            let message = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }).to_string();
            let answer = ask(&mut endpoint, &stranger, request, message.into()).await;
            assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{method}");
        }
        let request = Request::builder().method(Method::GET).header(SESSION_HEADER, &session);
        let answer = ask(&mut endpoint, &Principal::local(), request, Body::empty()).await;
        assert_eq!(answer.status(), StatusCode::OK, "its owner still has it");
    }

    #[tokio::test]
    async fn a_request_that_nobody_vouched_for_is_refused() {
        let mut endpoint = endpoint("/mcp", Silent, 1000, Open::default(), Leaving::default());
        let request = Request::builder().uri("/mcp").body(Body::empty()).expect("a request");
        assert_eq!(endpoint.call(request).await.expect("an answer").status(), StatusCode::UNAUTHORIZED);
    }
}
