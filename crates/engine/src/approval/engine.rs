//! What doors and operators see of this stage.

use std::time::Duration;

use runward_model::{Refusal, Request};

use super::Conversation;
use crate::{Engine, Session};

impl Engine {
    /// The same as [`Engine::start`] for a call that brings a way to ask its user along.
    pub async fn start_asking(&self, request: Request, _conversation: Conversation) -> Result<Session, Refusal> {
        self.start(request).await
    }

    /// How long an answer is waited for.
    pub fn approval_timeout(&self) -> Duration {
        Duration::from_mins(5)
    }
}
