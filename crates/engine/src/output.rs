//! What one session printed, as a reader sees it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use runward_model::{Outcome, OutputId, Receipt, SessionId, Stream};
use runward_spool::{Page, Record, Selection, page};
use thiserror::Error;

use crate::session::Session;

/// What one session printed, while it runs and for a while after. Letting go of this stops nothing.
#[derive(Debug)]
pub struct Output {
    id: OutputId,
    session: Session,
}

/// Why there is no such output.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Gone {
    /// Nobody knows it.
    #[error("no such output; it is another caller's, from before this server was started, or misspelt")]
    Unknown,
    /// It was kept for its time.
    #[error("this output has expired: outputs are kept for {} s (output.keep)", .0.as_secs())]
    Expired(Duration),
    /// It had to make room.
    #[error("this output was evicted to make room for newer ones (output.quota); run the command again")]
    Evicted,
    /// It is there and cannot be read.
    #[error("this output cannot be read: {0}")]
    Unreadable(String),
}

impl Output {
    pub(crate) fn new(id: OutputId, session: Session) -> Self {
        Output { id, session }
    }

    /// The session as somebody who came later sees it.
    pub(crate) fn attach(self) -> Session {
        let mut session = self.session;
        session.is_attached = true;
        session
    }

    /// Its name.
    pub fn id(&self) -> &OutputId {
        &self.id
    }

    /// The session that prints or printed it.
    pub fn session(&self) -> SessionId {
        self.session.id()
    }

    /// What was asked.
    pub fn receipt(&self) -> &Arc<Receipt> {
        self.session.receipt()
    }

    /// How the command ended, once it has; what it left behind may go on printing.
    pub fn outcome(&self) -> Option<Outcome> {
        self.session.command_outcome()
    }

    /// Why it is not whole, where it is not.
    pub fn note(&self) -> Option<String> {
        self.session.log().note()
    }

    /// Waits for the end of the command.
    pub async fn ended(&mut self) {
        self.session.command_over().await;
    }

    /// One stream from its first byte on, as it stands now.
    pub fn record(&self, stream: Stream) -> Result<Record, Gone> {
        self.session.log().record(stream).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Gone::Evicted,
            _ => Gone::Unreadable(error.to_string()),
        })
    }

    /// Some lines of one stream. Large ones are read on a thread of their own.
    pub async fn page(&self, stream: Stream, selection: Selection) -> Result<Page, Gone> {
        let record = self.record(stream)?;
        let read = tokio::task::spawn_blocking(move || page(record, &selection)).await;
        let read = read.map_err(|_| Gone::Unreadable("the reader failed".into()))?;
        read.map_err(|error| Gone::Unreadable(error.to_string()))
    }
}
