//! The streaming door: `POST /raw` runs a program and tells what it prints as lines of JSON, as it prints it.
//!
//! It decodes (`body`), encodes (`frame`, `refusal`) and watches (`stream`), like every door. What a command prints
//! waits in a window that holds the command back while its reader is slow. A client that goes away ends its command,
//! unless it asked to come back (`resume_ms`) or to leave it alone (`detach`); such sessions are followed at
//! `GET /raw/{session}?from=SEQ` and driven below it (`drive`).

mod body;
mod check;
mod drive;
mod follow;
mod frame;
mod refusal;
mod start;
mod stream;
mod workspaces;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::header::USER_AGENT;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{any, get, post};
use runward_engine::Engine;
use runward_model::{Caller, Client, Door, Principal};

use crate::http::{Open, is_json, refuse};
use crate::{Role, Roles};

/// The door's name in the audit trail.
const DOOR: Door = Door::named(RAW);

/// What this door is called where tools are named.
pub const RAW: &str = "raw";

/// What the streaming door is told once, at start.
#[derive(Clone, Debug)]
pub struct RawSettings {
    /// How long a command may run when the caller does not say; `None` is for as long as it likes.
    pub timeout: Option<Duration>,
}

/// Everything that a request needs. Clones share it.
#[derive(Clone)]
struct Raw(Arc<Shared>);

struct Shared {
    engine: Engine,
    settings: RawSettings,
    open: Open,
}

/// The paths of this door. Whoever asks has been let in before.
pub(crate) fn routes(engine: Engine, settings: RawSettings, open: Open) -> Router {
    let shared = Shared { engine, settings, open };
    Router::new()
        .route("/raw", post(start::start))
        .route("/check", post(check::check))
        .route("/raw/workspaces", get(workspaces::list))
        .route("/raw/{session}", get(follow::follow).delete(drive::stop))
        .route("/raw/{session}/signal", post(drive::signal))
        .route("/raw/{session}/resize", post(drive::resize))
        .route("/raw/{session}/ack", post(drive::acknowledge))
        .route_layer(middleware::from_fn(only_json))
        .route("/raw/{session}/stdin", post(drive::stdin))
        .route_layer(middleware::from_fn(only_with_role))
        .with_state(Raw(Arc::new(shared)))
}

/// The same paths where the operator has not named this door among the tools.
pub(crate) fn closed() -> Router {
    async fn refuse_all() -> Response {
        let what =
            "this door is closed, since the tools were named without it: add raw to --tools (RUNWARD_TOOLS)";
        refuse(StatusCode::FORBIDDEN, "door_closed", what)
    }
    Router::new()
        .route("/raw", any(refuse_all))
        .route("/raw/{*rest}", any(refuse_all))
        .route("/check", any(refuse_all))
}

/// Reading takes another role than everything else.
async fn only_with_role(request: Request, next: Next) -> Response {
    let reads = request.method() == Method::GET || request.uri().path() == "/check";
    let role = if reads { Role::Read } else { Role::Run };
    let roles = request.extensions().get::<Roles>().cloned().unwrap_or_else(|| Roles::new(&[]));
    if roles.has(role) {
        return next.run(request).await;
    }
    refuse(StatusCode::FORBIDDEN, "role_missing", &roles.lack(role))
}

/// A body is JSON by its header too. A web page could send anything else without asking first.
async fn only_json(request: Request, next: Next) -> Response {
    if request.method() == Method::POST && !is_json(request.headers()) {
        let what = "the body has to be JSON: send it with `Content-Type: application/json`";
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", what);
    }
    next.run(request).await
}

/// Who asks; the program at the other end is known by its own word alone.
fn caller(principal: Principal, headers: &HeaderMap) -> Caller {
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok());
    let client = agent.and_then(|agent| agent.split(' ').next()).map(|product| {
        let (name, version) = product.split_once('/').unwrap_or((product, ""));
        Client { name: name.to_owned(), version: version.to_owned() }
    });
    // What runs here belongs to whoever knows its name.
    Caller { client, ..Caller::new(DOOR, principal.any_client()) }
}
