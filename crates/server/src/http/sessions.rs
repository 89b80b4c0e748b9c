//! Legacy MCP sessions, each with its owner.
//!
//! Revisions before 2026-07-28 keep a session between requests. The protocol library would end one that was silent
//! for some time, a running command included, so that timer is off; instead their number is bounded, and a new
//! session takes the place of another one of its caller: first of those in which nothing was ever asked, then of the one that
//! has been idle for longest.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use runward_model::Principal;
use tokio_util::sync::CancellationToken;

use crate::mcp::InSession;

use super::register::{MOST_SESSIONS, NotYours, Register};

tokio::task_local! {
    /// Whose request is being answered: the protocol library does not say for whom it makes a session.
    static CALLER: Principal;
}

/// Answers on behalf of somebody.
pub(super) async fn on_behalf_of<T>(caller: Principal, answering: impl Future<Output = T>) -> T {
    CALLER.scope(caller, answering).await
}

fn caller() -> Option<Principal> {
    CALLER.try_with(Clone::clone).ok()
}

/// Who is told of clients whose session has ended: nobody can come back to what they started.
#[derive(Clone, Default)]
pub(super) struct Leaving(Option<Arc<Told>>);

/// Is told of one client.
type Told = dyn Fn(&Principal) + Send + Sync;

impl Leaving {
    pub(super) fn new(told: impl Fn(&Principal) + Send + Sync + 'static) -> Self {
        Leaving(Some(Arc::new(told)))
    }
}

impl std::fmt::Debug for Leaving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Leaving")
    }
}

/// Every legacy session, each with its owner.
pub(super) struct Sessions {
    leaving: Leaving,
    carried: LocalSessionManager,
    register: Mutex<Register>,
}

/// Why a session could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("{MOST_SESSIONS} sessions are in use, which is all there can be: try again later")]
    Full,
    #[error(transparent)]
    Carried(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(super) fn new(leaving: Leaving) -> Self {
        let mut carried = LocalSessionManager::default();
        carried.session_config.keep_alive = None;
        // Kept results serve clients that lost their connection. Here that stops the command, and a kept result
        // would hold its output in memory.
        carried.session_config.completed_cache_ttl = Duration::ZERO;
        Sessions { leaving, carried, register: Mutex::default() }
    }

    /// Says whose a new session is.
    pub(super) fn claim(&self, id: &str, owner: Principal) {
        self.register().claim(id, owner);
    }

    /// Begins one request in a session; `None` if there is no such session.
    pub(super) fn enter(self: &Arc<Self>, id: &str, caller: &Principal) -> Result<Option<Visit>, NotYours> {
        let entered = self.register().enter(id, caller)?;
        Ok(entered.map(|(id, closed)| Visit { sessions: Arc::clone(self), id, closed }))
    }

    /// The register is whole after every step, so a panic elsewhere does not spoil it.
    fn register(&self) -> MutexGuard<'_, Register> {
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request or stream of a session, until dropped.
pub(super) struct Visit {
    sessions: Arc<Sessions>,
    id: SessionId,
    closed: CancellationToken,
}

impl Visit {
    /// A token that is cancelled when the session is closed, and can be cancelled for this visit alone.
    pub(super) fn token(&self) -> CancellationToken {
        self.closed.child_token()
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.sessions.register().leave(&self.id);
    }
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        let evicted = self.register().make_room(caller().as_ref()).map_err(|_| SessionError::Full)?;
        if let Some(id) = evicted {
            self.close_session(&id).await?;
        }
        let (id, transport) = self.carried.create_session().await?;
        self.register().open(id.clone());
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self.carried.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.carried.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        let owner = self.register().close(id);
        if let (Some(owner), Leaving(Some(told))) = (owner, &self.leaving) {
            let InSession(client) = InSession::new(owner, id);
            told(&client);
        }
        Ok(self.carried.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.carried.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionError> {
        Ok(self.carried.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.carried.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.carried.resume(id, last_event_id).await?)
    }
}
