//! Asking through the client, by a request of our own: the way before 2026-07-28.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{CancelledNotificationParam, GetExtensions as _, RequestId, ServerRequest};
use rmcp::service::{OriginatingRequestId, Peer, PeerRequestOptions};
use runward_engine::{Approver, Asking, Said};
use runward_model::Question;
use serde_json::json;

use super::form;

/// Asks the user of the client that called.
#[derive(Debug)]
pub(crate) struct Elicitation {
    /// The client.
    pub(crate) peer: Peer<RoleServer>,
    /// The call that it is about; where a connection is one of several, the question goes the way of its answer.
    pub(crate) call: RequestId,
    /// Whoever answers there.
    pub(crate) by: String,
}

impl Approver for Elicitation {
    fn way(&self) -> &'static str {
        "elicitation"
    }

    fn ask(&self, question: Arc<Question>) -> Asking {
        let (peer, call, by) = (self.peer.clone(), self.call.clone(), self.by.clone());
        Box::pin(async move {
            let mut request: ServerRequest =
                serde_json::from_value(form::request(&question)).map_err(|error| error.to_string())?;
            request.extensions_mut().insert(OriginatingRequestId(call));
            let gone = |error| format!("the client gave no answer ({error})");
            let options = PeerRequestOptions::no_options();
            let handle = peer.send_cancellable_request(request, options).await.map_err(gone)?;
            let mut taken_back = OpenForm { peer: handle.peer.clone(), id: Some(handle.id.clone()) };
            let result = handle.await_response().await;
            taken_back.id = None;
            let answer = form::read(&json!(result.map_err(gone)?))?;
            Ok(Said { answer, by })
        })
    }
}

/// Takes the question back when it is dropped before it was answered, so that no form stays open for nothing.
struct OpenForm {
    peer: Peer<RoleServer>,
    id: Option<RequestId>,
}

impl Drop for OpenForm {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let peer = self.peer.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let why = "it was answered elsewhere, or is no longer asked";
                let note = CancelledNotificationParam::new(Some(id), Some(why.into()));
                if let Err(error) = peer.notify_cancelled(note).await {
                    tracing::debug!(%error, "a question was not taken back");
                }
            });
        }
    }
}
