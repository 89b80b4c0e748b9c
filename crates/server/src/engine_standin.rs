//! Stands in for the engine until it is there.
#![expect(missing_docs, clippy::unused_async, reason = "replaced by the engine crate")]

use runward_model::{Refusal, Request, StopReason, View};

#[derive(Clone, Debug, Default)]
pub struct Engine;

impl Engine {
    pub async fn start(&self, _request: Request) -> Result<Session, Refusal> {
        Err(Refusal::ShuttingDown)
    }
    pub async fn shutdown(&self) {}
}

#[derive(Debug)]
pub struct Session;

impl Session {
    pub fn stop(&self, _reason: StopReason) {}
    pub fn printed(&self) -> u64 {
        0
    }
    pub async fn ended(&mut self) -> View {
        std::future::pending().await
    }
}
