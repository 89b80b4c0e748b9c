//! The streaming door: `POST /raw` runs a program and tells what it prints as lines of JSON, as it prints it.
//!
//! It decodes (`body`), encodes (`frame`, `refusal`) and watches (`stream`), like every door. What a command prints
//! waits in a window that holds the command back while its reader is slow. A client that goes away ends its command,
//! unless it asked to come back (`resume_ms`) or to leave it alone (`detach`); such sessions are followed at
//! `GET /raw/{session}?from=SEQ` and driven below it (`drive`).

mod attendance;
mod body;
mod check;
mod drive;
mod follow;
mod frame;
mod refusal;
mod start;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::USER_AGENT;
use axum::routing::{get, post};
use runward_engine::Engine;
use runward_model::{Caller, Client, Door, Principal};

use crate::http::Open;
use attendance::Attendance;

/// The door's name in the audit trail.
const DOOR: Door = Door("raw");

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
    attendance: Arc<Attendance>,
}

/// The paths of this door. Whoever asks has been let in before.
pub(crate) fn routes(engine: Engine, settings: RawSettings, open: Open) -> Router {
    let shared = Shared { engine, settings, open, attendance: Arc::default() };
    Router::new()
        .route("/raw", post(start::start))
        .route("/check", post(check::check))
        .route("/raw/{session}", get(follow::follow).delete(drive::stop))
        .route("/raw/{session}/stdin", post(drive::stdin))
        .route("/raw/{session}/signal", post(drive::signal))
        .route("/raw/{session}/resize", post(drive::resize))
        .route("/raw/{session}/ack", post(drive::acknowledge))
        .with_state(Raw(Arc::new(shared)))
}

/// Who asks; the program at the other end is known by its own word alone.
fn caller(principal: Principal, headers: &HeaderMap) -> Caller {
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok());
    let client = agent.and_then(|agent| agent.split(' ').next()).map(|product| {
        let (name, version) = product.split_once('/').unwrap_or((product, ""));
        Client { name: name.to_owned(), version: version.to_owned() }
    });
    Caller { door: DOOR, principal, client }
}
