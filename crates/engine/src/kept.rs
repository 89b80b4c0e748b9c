//! Sessions that outlive the call that started them: a caller comes back to them by their number.
//!
//! The table is bounded, a share for each principal. When a share is full, ended sessions go first, oldest use first, and
//! the most recently used are spared; whoever comes back to one that went is told so, and where its output is.

mod ready;
mod table;
mod unread;
mod wait;

use std::sync::Arc;
use std::time::Duration;

use runward_model::{Principal, SessionId, StopReason};

use crate::Engine;
use crate::log::Mark;
use crate::session::Session;

pub use ready::Ready;
use table::Entry;
pub use table::NoSession;
pub(crate) use table::Table;
pub use unread::{Chunk, Run};
pub use wait::{Met, Pattern, Wait};

/// A session that somebody came back to. Letting go of this stops nothing.
#[derive(Clone, Debug)]
pub struct Kept(Arc<Entry>);

/// What a list tells of a session.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Its number.
    pub id: SessionId,
    /// What it runs, as the caller gave it.
    pub command: String,
    /// How long ago it started.
    pub age: Duration,
    /// How long ago anybody last had to do with it.
    pub idle: Duration,
    /// With which code its command ended, if it has.
    pub exit_code: Option<i32>,
    /// Whether anything of it still runs.
    pub is_running: bool,
    /// The TCP ports that its processes listen on.
    pub ports: Vec<u16>,
    /// How many bytes of its output nobody has been given.
    pub unread: u64,
    /// Which of its ports are opened on this host's loopback.
    pub published: Vec<u16>,
    /// Whether it runs on a terminal.
    pub is_terminal: bool,
}

impl Engine {
    /// A kept session of this principal. A command that went on without its caller becomes one.
    pub fn kept(&self, principal: &Principal, id: SessionId) -> Result<Kept, NoSession> {
        let none = match self.0.kept.find(principal, id) {
            Ok(entry) => return Ok(Kept(entry)),
            Err(none) => none,
        };
        match self.session(principal, id).filter(|_| none == NoSession::Unknown) {
            Some(session) => Ok(self.adopt(principal, &session)),
            None => Err(none),
        }
    }

    /// Puts a session into the table, unless it is there.
    pub(crate) fn adopt(&self, principal: &Principal, session: &Session) -> Kept {
        if let Ok(entry) = self.0.kept.find(principal, session.id()) {
            return Kept(entry);
        }
        let entry = Arc::new(Entry::new(session.watch()));
        for evicted in self.0.kept.add(principal, entry.clone()) {
            evicted.session.stop(StopReason::Evicted);
        }
        Kept(entry)
    }

    /// The same for one whose output so far, and the end of whose command, its client is about to be told.
    pub(crate) fn adopt_told(&self, principal: &Principal, session: &Session) {
        let Kept(entry) = self.adopt(principal, session);
        entry.advance(session.log().since(Mark::default()).1);
        entry.tell_of_command();
    }

    /// Ends what goes on for a client that will not come back.
    pub fn leave(&self, principal: &Principal) {
        self.0.kept.leave(principal);
        for session in self.0.outputs.running(principal) {
            session.stop(StopReason::Disconnected);
        }
        for workspace in self.0.workspaces.left(principal) {
            self.0.host.leave(workspace);
        }
    }

    /// Every kept session of this principal, oldest first. What belongs to whoever knows its number is not listed.
    pub async fn kept_sessions(&self, principal: &Principal) -> Vec<Summary> {
        if principal.is_any_client() {
            return Vec::new();
        }
        let of = |entry: Arc<Entry>| (entry.session.look(None), Kept(entry));
        // Each is asked before any is waited for.
        let asked: Vec<_> = self.0.kept.of(principal).into_iter().map(of).collect();
        let mut summaries = Vec::with_capacity(asked.len());
        for (seen, kept) in asked {
            summaries.push(kept.summary(seen.await.ports));
        }
        summaries
    }

    /// Forgets a kept session whose end has been told.
    pub fn forget(&self, principal: &Principal, kept: &Kept) {
        self.0.kept.remove(principal, kept.session().id());
    }
}

impl Kept {
    /// The session.
    pub fn session(&self) -> &Session {
        &self.0.session
    }

    /// What a list tells of it.
    fn summary(&self, ports: Vec<u16>) -> Summary {
        let Kept(entry) = self;
        let session = &entry.session;
        Summary {
            id: session.id(),
            command: session.receipt().command.clone(),
            age: entry.started.elapsed(),
            idle: entry.used().elapsed(),
            exit_code: session.command_outcome().map(|outcome| outcome.exit_code()),
            published: session.receipt().enforced.published.clone(),
            is_running: session.outcome().is_none(),
            ports,
            unread: session.printed().saturating_sub(entry.mark().position),
            is_terminal: session.is_terminal(),
        }
    }

    /// Waits until there is reason to look: see [`Wait`].
    pub async fn wait(&self, wait: &Wait) -> Met {
        let _attended = self.0.attended();
        wait::wait(&self.0, wait).await
    }

    /// What it printed since somebody was last given its output, at most about `limit` bytes of both ends; from now on
    /// that counts as given. `complete` says how many bytes can be shown while there may be more.
    pub async fn take(&self, limit: usize, complete: fn(&[u8]) -> usize) -> Chunk {
        let (chunk, mark) = unread::read(&self.0, limit, complete).await;
        self.0.advance(mark);
        if chunk.outcome.is_some() {
            self.0.tell_of_command();
        }
        chunk
    }

    /// What any session printed from a position on, at most about `limit` bytes of both ends, as far as it is in
    /// memory. A position counts the bytes of both outputs.
    pub fn look(session: &Session, since: u64, limit: usize) -> Chunk {
        unread::look(session, since, limit)
    }
}
