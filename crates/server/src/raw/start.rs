//! `POST /raw`: runs a program and streams what it prints.

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use runward_engine::{Conversation, Watch};
use runward_model::{Caller, Principal, Refusal};

use super::body::{self, Asked};
use super::{Raw, caller, frame, refusal, stream};
use crate::json;

/// Answers with a stream once the program runs, and with a status before.
pub(super) async fn start(
    State(raw): State<Raw>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Asked { request, on_disconnect } = match raw.decode(body, caller(principal, &headers)).await {
        Ok(asked) => asked,
        Err(answer) => return *answer,
    };
    let watch = Watch::Events { shape: frame::output, on_disconnect };
    match raw.0.engine.start(request, &Conversation::default(), watch).await {
        // Dropping the answer is the client going away: the session goes with it.
        Ok(session) => stream::answer(&raw, session, 0),
        Err(refused) => refusal::answer(&refused),
    }
}

impl Raw {
    /// What a body asks for, or the answer that says what is wrong with it.
    pub(super) async fn decode(&self, body: Bytes, caller: Caller) -> Result<Asked, Box<Response>> {
        let settings = self.0.settings.clone();
        let decoded = json::aside(body.len(), move || body::decode(&body, caller, &settings)).await;
        match decoded {
            Some(asked) => asked.map_err(|sentence| Box::new(refusal::malformed(&sentence))),
            None => Err(Box::new(refusal::answer(&Refusal::ShuttingDown))),
        }
    }
}
