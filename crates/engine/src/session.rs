//! A session as a door sees it.

use std::sync::Arc;

use runward_model::{Receipt, SessionId, StopReason, Stream, View};
use tokio::sync::{mpsc, watch};

use crate::log::EventLog;
use crate::supervise::Final;

/// A session as a door sees it. Whoever holds this holds the leash: letting go of it stops the command.
#[derive(Debug)]
pub struct Session {
    pub(crate) id: SessionId,
    pub(crate) pid: i32,
    pub(crate) receipt: Arc<Receipt>,
    pub(crate) log: Arc<EventLog>,
    pub(crate) stop: mpsc::UnboundedSender<StopReason>,
    pub(crate) outcome: watch::Receiver<Final>,
}

impl Session {
    /// Its id.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// What was asked and why it was allowed.
    pub fn receipt(&self) -> &Arc<Receipt> {
        &self.receipt
    }

    /// Its first process.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Asks it to end, then makes it. The first reason wins; an ended session does not mind.
    pub fn stop(&self, reason: StopReason) {
        let _ = self.stop.send(reason);
    }

    /// How many bytes it has printed so far.
    pub fn printed(&self) -> u64 {
        self.log.position()
    }

    /// Everything that it prints.
    pub fn log(&self) -> &Arc<EventLog> {
        &self.log
    }

    /// Waits for its end. May be dropped and called again.
    pub async fn ended(&mut self) -> View {
        let outcome = match self.outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone(),
            Err(_) => None,
        };
        View {
            receipt: self.receipt.clone(),
            outcome: outcome.unwrap_or_else(crate::supervise::lost),
            stdout: self.log.captured(Stream::Stdout),
            stderr: self.log.captured(Stream::Stderr),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stop(StopReason::Disconnected);
    }
}
