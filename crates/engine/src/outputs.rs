//! The outputs of sessions by name, while they run and for a while after.
//!
//! Running sessions are all here. Of ended ones, the youngest stay in memory within a bound; an older one goes to
//! disk if it is large, and is let go of if it is small, since its reply has shown it whole.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use runward_model::{OutputId, Principal, SessionId};

use crate::output::{Gone, Output};
use crate::session::Session;

/// How much memory the outputs of ended sessions may take in all.
const MEMORY: usize = 32 << 20;

/// An output of at most this size is shown whole by its reply, and never written to disk for being old.
const SMALL: usize = 64 << 10;

/// How many ended sessions are in memory; what is known of one takes a few KiB, however little it printed.
const IN_MEMORY: usize = 1024;

/// How many ended sessions are known, in memory or on disk.
const ENDED: usize = 4096;

/// How many that are gone are remembered, to say why.
const REMEMBERED: usize = 4096;

/// The outputs of sessions by name.
#[derive(Debug)]
pub(crate) struct Outputs {
    keep: Duration,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    entries: HashMap<OutputId, Entry>,
    /// Those of ended sessions, oldest first.
    ended: VecDeque<(OutputId, Instant)>,
    /// How many at the front of `ended` are no longer in memory.
    forgotten: usize,
    /// What the ended ones take.
    memory: usize,
    gone: VecDeque<(OutputId, Principal, Gone)>,
}

#[derive(Debug)]
struct Entry {
    principal: Principal,
    session: Session,
}

impl Outputs {
    pub(crate) fn new(keep: Duration) -> Self {
        Outputs { keep, table: Mutex::default() }
    }

    /// Adds a session that begins.
    pub(crate) fn add(&self, principal: Principal, id: OutputId, session: Session) {
        self.lock().entries.insert(id, Entry { principal, session });
    }

    /// A session has ended, and its log is closed.
    pub(crate) fn ended(&self, id: &OutputId) {
        let mut table = self.lock();
        let Some(entry) = table.entries.get(id) else { return };
        table.memory += entry.session.log().memory();
        table.ended.push_back((id.clone(), Instant::now()));
        table.expire(self.keep);
        table.shrink();
    }

    /// An output of this principal, or one that belongs to whoever knows its name.
    pub(crate) fn find(&self, principal: &Principal, id: &OutputId) -> Result<Output, Gone> {
        let mut table = self.lock();
        table.expire(self.keep);
        match table.entries.get(id).filter(|entry| principal.reaches(&entry.principal)) {
            Some(entry) => Ok(Output::new(id.clone(), entry.session.watch())),
            None => Err(table.why_gone(principal, id)),
        }
    }

    /// A session of this principal.
    pub(crate) fn session(&self, principal: &Principal, id: SessionId) -> Option<Session> {
        let table = self.lock();
        let mut entries = table.entries.values();
        let found = entries.find(|entry| entry.session.id() == id && entry.principal == *principal)?;
        Some(found.session.watch())
    }

    /// Every session of this principal that has not ended.
    pub(crate) fn running(&self, principal: &Principal) -> Vec<Session> {
        let table = self.lock();
        let own = table.entries.values().filter(|entry| entry.principal == *principal);
        own.map(|entry| entry.session.watch()).filter(|session| session.outcome().is_none()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn expire(&mut self, keep: Duration) {
        while self.ended.front().is_some_and(|(_, ended)| ended.elapsed() > keep) {
            self.remove_oldest(Gone::Expired(keep));
        }
    }

    /// Brings the ended ones back within their bounds, oldest first.
    fn shrink(&mut self) {
        while self.ended.len() > ENDED {
            self.remove_oldest(Gone::Evicted);
        }
        let is_full =
            |table: &Table| table.memory > MEMORY || table.ended.len() - table.forgotten > IN_MEMORY;
        while self.forgotten < self.ended.len() && is_full(self) {
            self.forget_next();
        }
    }

    /// Takes the oldest one that is in memory out of it.
    fn forget_next(&mut self) {
        let Some((id, _)) = self.ended.get(self.forgotten).cloned() else { return };
        let log = self.entries.get(&id).map(|entry| entry.session.log().clone());
        let memory = log.as_ref().map_or(0, |log| log.memory());
        if memory > SMALL && log.is_some_and(|log| log.forget()) {
            self.memory -= memory;
            self.forgotten += 1;
        } else {
            self.ended.remove(self.forgotten);
            self.remove(&id, Gone::Evicted);
        }
    }

    fn remove_oldest(&mut self, why: Gone) {
        if let Some((id, _)) = self.ended.pop_front() {
            self.forgotten = self.forgotten.saturating_sub(1);
            self.remove(&id, why);
        }
    }

    fn remove(&mut self, id: &OutputId, why: Gone) {
        let Some(Entry { principal, session }) = self.entries.remove(id) else { return };
        self.memory = self.memory.saturating_sub(session.log().memory());
        self.gone.push_back((id.clone(), principal, why));
        if self.gone.len() > REMEMBERED {
            self.gone.pop_front();
        }
    }

    fn why_gone(&self, principal: &Principal, id: &OutputId) -> Gone {
        let found = self.gone.iter().find(|(gone, owner, _)| gone == id && principal.reaches(owner));
        found.map_or(Gone::Unknown, |(_, _, why)| why.clone())
    }
}
