//! Where progress goes, one note at a time.

use std::convert::Infallible;
use std::fmt;
use std::future::pending;
use std::pin::Pin;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::time::timeout;

/// How long a reply waits for the last note to get out before it.
const LAST_NOTE: Duration = Duration::from_secs(1);

/// Where progress goes.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// The client.
    pub(crate) peer: Peer<RoleServer>,
    /// What the client calls this progress.
    pub(crate) token: ProgressToken,
    /// How often a silent command is told of.
    pub(crate) every: Duration,
}

/// Tells now and then that a person is asked, for as long as this is waited for. The counts are tiny, so that what is
/// told of the command afterwards goes on growing.
pub(super) async fn tell_of_waiting(progress: Option<&Progress>) -> Infallible {
    let Some(Progress { peer, token, every }) = progress else { return pending().await };
    for count in 1_u32.. {
        tokio::time::sleep(*every).await;
        let note = ProgressNotificationParam::new(token.clone(), f64::from(count) * 1e-6);
        if let Err(error) = peer.notify_progress(note.with_message("waiting for approval")).await {
            tracing::debug!(%error, "a progress note was not sent");
        }
    }
    pending().await
}

/// Sends one note at a time, and never makes a command wait for it.
pub(super) struct Outlet {
    progress: Progress,
    sending: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Outlet {
    pub(super) fn new(progress: Progress) -> Self {
        Outlet { progress, sending: None }
    }

    /// Ends when the note before is out. May be dropped and asked again.
    pub(super) async fn sent(&mut self) {
        if let Some(sending) = &mut self.sending {
            sending.await;
            self.sending = None;
        }
    }

    /// Begins to send a note. Progress is counted in seconds since the start, and must grow.
    pub(super) fn send(&mut self, seconds: f64, message: String) {
        let note = ProgressNotificationParam::new(self.progress.token.clone(), seconds).with_message(message);
        let peer = self.progress.peer.clone();
        self.sending = Some(Box::pin(async move {
            if let Err(error) = peer.notify_progress(note).await {
                tracing::debug!(%error, "a progress note was not sent");
            }
        }));
    }

    /// Waits until the last note is out, so that it comes before the reply.
    pub(super) async fn finish(&mut self) {
        if timeout(LAST_NOTE, self.sent()).await.is_err() {
            tracing::debug!("the last progress note was not taken in time");
        }
    }
}

impl fmt::Debug for Outlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Outlet").field(&self.progress).finish()
    }
}
