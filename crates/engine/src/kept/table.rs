//! The table of kept sessions.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use runward_model::{Outcome, OutputId, Principal, SessionId};
use thiserror::Error;

use crate::log::Mark;
use crate::session::Session;

/// How many of the most recently used are never evicted.
const SPARED: usize = 8;

/// How many that went are remembered, to say why.
const REMEMBERED: usize = 4096;

/// A kept session and how far its output has been given to somebody.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) session: Session,
    pub(super) started: Instant,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    mark: Mark,
    used: Instant,
    /// Whether somebody was told that its command has ended.
    told: bool,
    /// How many wait for it.
    attendants: usize,
}

/// Somebody who waits for a session.
pub(super) struct Attended<'a>(&'a Entry);

impl Drop for Attended<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.attendants -= 1;
        state.used = Instant::now();
    }
}

/// Kept sessions by principal.
#[derive(Debug)]
pub(crate) struct Table {
    most: usize,
    shares: Mutex<Shares>,
}

#[derive(Debug, Default)]
struct Shares {
    /// In the order of their start.
    live: HashMap<Principal, Vec<Arc<Entry>>>,
    gone: VecDeque<(Principal, SessionId, NoSession)>,
}

/// Why there is no such session.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoSession {
    /// Nobody knows it.
    #[error(
        "unknown session; it is another caller's or from before this server was started (list_sessions names those that are there)"
    )]
    Unknown,
    /// It ended, and somebody was told.
    #[error(
        "this session has ended with exit code {exit_code}, as an earlier reply said; its output is there with read_output, output_id {output}"
    )]
    Told {
        /// How.
        exit_code: i32,
        /// Where its output is.
        output: OutputId,
    },
    /// It had to make room.
    #[error(
        "this session was evicted to make room for newer ones (limits.kept_sessions); its output is there with read_output, output_id {output}"
    )]
    Evicted {
        /// Where its output is.
        output: OutputId,
    },
}

impl Entry {
    pub(super) fn new(session: Session) -> Self {
        let now = Instant::now();
        Entry {
            session,
            started: now,
            state: Mutex::new(State { mark: Mark::default(), used: now, told: false, attendants: 0 }),
        }
    }

    pub(super) fn mark(&self) -> Mark {
        self.lock().mark
    }

    /// Somebody is told that its command has ended.
    pub(super) fn tell_of_command(&self) {
        self.lock().told = true;
    }

    /// How it ended that nobody has been told: all of it, or its command while what that left behind goes on.
    pub(super) fn news(&self) -> Option<Outcome> {
        let outcome = if self.lock().told { None } else { self.session.command_outcome() };
        self.session.outcome().or(outcome)
    }

    /// Waits until there are such news.
    pub(super) async fn has_news(&self) {
        let mut session = self.session.watch();
        if !self.lock().told {
            session.command_over().await;
            if !self.lock().told {
                return;
            }
        }
        session.over().await;
    }

    /// When somebody last had to do with it: now, while somebody waits for it.
    pub(super) fn used(&self) -> Instant {
        let state = self.lock();
        if state.attendants > 0 { Instant::now() } else { state.used }
    }

    /// As long as this is held, it is in use.
    pub(super) fn attended(&self) -> Attended<'_> {
        self.lock().attendants += 1;
        Attended(self)
    }

    pub(super) fn touch(&self, now: Instant) {
        self.lock().used = now;
    }

    /// Two callers that read at the same time may each be given a part; nothing is given backwards.
    pub(super) fn advance(&self, mark: Mark) {
        let mut state = self.lock();
        if mark.position > state.mark.position {
            state.mark = mark;
        }
    }

    fn is_over(&self) -> bool {
        self.session.outcome().is_some()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// At most `most` for all clients of one name together.
    pub(crate) fn new(most: usize) -> Self {
        Table { most: most.max(1), shares: Mutex::default() }
    }

    /// Adds a session; those that have to go for it are returned, to be stopped.
    pub(super) fn add(&self, principal: &Principal, entry: Arc<Entry>) -> Vec<Arc<Entry>> {
        let mut shares = self.lock();
        shares.live.entry(principal.clone()).or_default().push(entry);
        let mut evicted = Vec::new();
        while let Some((owner, entry)) = shares.evict(principal, self.most) {
            let output = entry.session.receipt().output.clone();
            let why = NoSession::Evicted { output: output.unwrap_or(OutputId(String::new())) };
            shares.remember(owner, entry.session.id(), why);
            evicted.push(entry);
        }
        evicted
    }

    /// Takes out every session of a client that will not come back.
    pub(super) fn leave(&self, principal: &Principal) {
        self.lock().live.remove(principal);
    }

    pub(super) fn find(&self, principal: &Principal, id: SessionId) -> Result<Arc<Entry>, NoSession> {
        let shares = self.lock();
        let found =
            shares.live.get(principal).and_then(|share| share.iter().find(|entry| entry.session.id() == id));
        if let Some(entry) = found {
            entry.touch(Instant::now());
            return Ok(entry.clone());
        }
        let gone = shares.gone.iter().find(|(owner, gone, _)| owner == principal && *gone == id);
        Err(gone.map_or(NoSession::Unknown, |(_, _, why)| why.clone()))
    }

    pub(super) fn of(&self, principal: &Principal) -> Vec<Arc<Entry>> {
        self.lock().live.get(principal).cloned().unwrap_or_default()
    }

    /// Takes out a session whose end has been told.
    pub(super) fn remove(&self, principal: &Principal, id: SessionId) {
        let mut shares = self.lock();
        let Some(share) = shares.live.get_mut(principal) else { return };
        let Some(at) = share.iter().position(|entry| entry.session.id() == id) else { return };
        let session = &share.remove(at).session;
        let (outcome, output) = (session.outcome(), session.receipt().output.clone());
        if let Some((outcome, output)) = outcome.zip(output) {
            let why = NoSession::Told { exit_code: outcome.exit_code(), output };
            shares.remember(principal.clone(), id, why);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shares> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shares {
    /// Where all clients of one name have more than `most`, the one with the most of them gives one up.
    fn evict(&mut self, newest: &Principal, most: usize) -> Option<(Principal, Arc<Entry>)> {
        let of_name = |(owner, _): &(&Principal, &mut Vec<_>)| owner.name() == newest.name();
        let shares: Vec<_> = self.live.iter_mut().filter(of_name).collect();
        if shares.iter().map(|(_, share)| share.len()).sum::<usize>() <= most {
            return None;
        }
        // Between equals it is the one that wants another.
        let (owner, share) =
            shares.into_iter().max_by_key(|(owner, share)| (share.len(), *owner == newest))?;
        Some((owner.clone(), share.remove(victim(share))))
    }

    fn remember(&mut self, principal: Principal, id: SessionId, why: NoSession) {
        self.gone.push_back((principal, id, why));
        if self.gone.len() > REMEMBERED {
            self.gone.pop_front();
        }
    }
}

/// Which one has to go: of those that were not used recently, the ended one that was used least recently, else the
/// running one. The newest, for which room is made, is the most recently used.
fn victim(share: &[Arc<Entry>]) -> usize {
    choose(&share.iter().map(|entry| (entry.used(), entry.is_over())).collect::<Vec<_>>())
}

/// The same from when each was used, and whether it has ended.
fn choose<T: Ord + Copy>(share: &[(T, bool)]) -> usize {
    let mut by_use: Vec<(usize, &(T, bool))> = share.iter().enumerate().collect();
    by_use.sort_by_key(|(_, (used, _))| *used);
    let open = by_use.len().saturating_sub(SPARED).max(1);
    let mut candidates = by_use.into_iter().take(open);
    let first = candidates.next();
    let ended = first.into_iter().chain(candidates).find(|(_, (_, is_over))| *is_over);
    ended.or(first).map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(ended: &[usize]) -> Vec<(usize, bool)> {
        (0..12).map(|at| (at, ended.contains(&at))).collect()
    }

    #[test]
    fn an_ended_session_goes_before_a_running_one_that_was_used_earlier() {
        assert_eq!(choose(&share(&[2, 3])), 2);
    }

    #[test]
    fn without_an_ended_one_the_one_used_least_recently_goes() {
        assert_eq!(choose(&share(&[])), 0);
        let mut used_again = share(&[]);
        used_again[0].0 = 99;
        assert_eq!(choose(&used_again), 1);
    }

    #[test]
    fn the_most_recently_used_are_spared_even_if_they_have_ended() {
        assert_eq!(choose(&share(&[4, 5, 11])), 0);
        assert_eq!(choose(&share(&[3])), 3);
    }

    #[test]
    fn a_small_share_still_finds_one() {
        assert_eq!(choose(&[(5, false), (3, false)]), 1);
        assert_eq!(choose::<u8>(&[]), 0);
    }
}
