//! Which legacy sessions there are: a plain table, no clock, no tasks.

use std::collections::HashMap;

use rmcp::transport::streamable_http_server::session::SessionId;
use runward_model::Principal;
use tokio_util::sync::CancellationToken;

/// How many legacy sessions there can be. Each is a task and a few queues, some kilobytes when idle.
pub(super) const MOST_SESSIONS: usize = 1024;

/// The session belongs to someone else.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotYours;

/// There is no room for another session: all are in use.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoSessionLeft;

/// Which sessions there are, whose, and how long ago they were used.
#[derive(Debug, Default)]
pub(super) struct Register {
    sessions: HashMap<SessionId, Entry>,
    /// How often any session was used: a clock that needs no time.
    uses: u64,
}

#[derive(Debug)]
struct Entry {
    /// Nobody's until its `initialize` has been answered.
    owner: Option<Principal>,
    /// How many of its requests and streams are open.
    open: usize,
    last_use: u64,
    /// Whether anything was asked in it after its `initialize`.
    is_used: bool,
    closed: CancellationToken,
}

impl Register {
    pub(super) fn open(&mut self, id: SessionId) {
        let last_use = self.tick();
        let (is_used, closed) = (false, CancellationToken::new());
        self.sessions.insert(id, Entry { owner: None, open: 0, last_use, is_used, closed });
    }

    pub(super) fn claim(&mut self, id: &str, owner: Principal) {
        if let Some(entry) = self.sessions.get_mut(id) {
            entry.owner.get_or_insert(owner);
        }
    }

    /// Counts one more request; `None` if there is no such session.
    pub(super) fn enter(
        &mut self,
        id: &str,
        caller: &Principal,
    ) -> Result<Option<(SessionId, CancellationToken)>, NotYours> {
        let now = self.tick();
        let Some((id, _)) = self.sessions.get_key_value(id) else { return Ok(None) };
        let id = id.clone();
        let Some(entry) = self.sessions.get_mut(&id) else { return Ok(None) };
        if entry.owner.as_ref() != Some(caller) {
            return Err(NotYours);
        }
        entry.open += 1;
        entry.is_used = true;
        entry.last_use = now;
        Ok(Some((id, entry.closed.clone())))
    }

    pub(super) fn leave(&mut self, id: &SessionId) {
        let now = self.tick();
        if let Some(entry) = self.sessions.get_mut(id) {
            entry.open = entry.open.saturating_sub(1);
            entry.last_use = now;
        }
    }

    /// Forgets a session and tells its open requests; says whose it was.
    pub(super) fn close(&mut self, id: &SessionId) -> Option<Principal> {
        let entry = self.sessions.remove(id)?;
        entry.closed.cancel();
        entry.owner
    }

    /// Names the session that has to make room for another one of this caller, if any has to: one of its own that nothing
    /// was ever asked in, else one of its own, the longest idle first. What others have used stays.
    pub(super) fn make_room(&self, caller: Option<&Principal>) -> Result<Option<SessionId>, NoSessionLeft> {
        if self.sessions.len() < MOST_SESSIONS {
            return Ok(None);
        }
        let is_own = |entry: &Entry| entry.owner.as_ref() == caller;
        let idle = self.sessions.iter().filter(|(_, entry)| entry.open == 0);
        let movable = idle.filter(|(_, entry)| is_own(entry) || !entry.is_used);
        let least_wanted = movable.min_by_key(|(_, entry)| (!is_own(entry), entry.is_used, entry.last_use));
        least_wanted.map(|(id, _)| Some(id.clone())).ok_or(NoSessionLeft)
    }

    fn tick(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Register {
        let mut register = Register::default();
        for number in 0..MOST_SESSIONS {
            let id: SessionId = number.to_string().into();
            register.open(id);
            register.claim(&number.to_string(), Principal::local());
        }
        register
    }

    fn make_room(register: &Register) -> Result<Option<SessionId>, NoSessionLeft> {
        register.make_room(Some(&Principal::local()))
    }

    #[test]
    fn a_session_is_entered_by_its_owner_only() {
        let mut register = full();
        assert!(register.enter("7", &Principal::local()).is_ok_and(|entered| entered.is_some()));
        assert_eq!(register.enter("7", &Principal::token_holder()).err(), Some(NotYours));
        assert!(register.enter("nope", &Principal::local()).is_ok_and(|entered| entered.is_none()));
    }

    #[test]
    fn a_session_that_was_claimed_stays_with_its_owner() {
        let mut register = full();
        register.claim("7", Principal::token_holder());
        assert!(register.enter("7", &Principal::token_holder()).is_err());
    }

    #[test]
    fn a_session_that_nobody_claimed_is_entered_by_nobody() {
        let mut register = Register::default();
        register.open("new".into());
        assert!(register.enter("new", &Principal::local()).is_err());
    }

    #[test]
    fn the_session_that_was_idle_for_longest_makes_room() {
        let mut register = full();
        assert_eq!(make_room(&register), Ok(Some("0".into())));
        register.enter("0", &Principal::local()).expect("ours");
        register.leave(&"0".into());
        assert_eq!(make_room(&register), Ok(Some("1".into())));
    }

    #[test]
    fn sessions_in_which_nothing_was_asked_push_each_other_out_and_nobody_else() {
        let mut register = full();
        for used in ["0", "1"] {
            register.enter(used, &Principal::local()).expect("ours");
            register.leave(&used.into());
        }
        for number in 0..2 * MOST_SESSIONS {
            let evicted = make_room(&register).expect("there is room").expect("it is full");
            assert!(!["0", "1"].contains(&&*evicted));
            register.close(&evicted);
            let id = format!("new-{number}");
            register.open(id.clone().into());
            register.claim(&id, Principal::local());
        }
        assert!(register.enter("0", &Principal::local()).is_ok_and(|entered| entered.is_some()));
    }

    #[test]
    fn what_others_have_used_makes_no_room() {
        let mut register = full();
        for number in 1..MOST_SESSIONS {
            register.enter(&number.to_string(), &Principal::local()).expect("ours");
            register.leave(&number.to_string().into());
        }
        let other = Principal::token_holder();
        assert_eq!(register.make_room(Some(&other)), Ok(Some("0".into())));
        register.enter("0", &Principal::local()).expect("ours");
        register.leave(&"0".into());
        assert_eq!(register.make_room(Some(&other)), Err(NoSessionLeft));
        assert_eq!(make_room(&register), Ok(Some("1".into())));
    }

    #[test]
    fn a_session_in_use_never_makes_room() {
        let mut register = full();
        for number in 0..MOST_SESSIONS {
            register.enter(&number.to_string(), &Principal::local()).expect("ours");
        }
        assert_eq!(make_room(&register), Err(NoSessionLeft));
        register.leave(&"9".into());
        assert_eq!(make_room(&register), Ok(Some("9".into())));
    }

    #[test]
    fn closing_a_session_tells_its_open_requests() {
        let mut register = full();
        let (id, closed) = register.enter("7", &Principal::local()).expect("ours").expect("known");
        register.close(&id);
        assert!(closed.is_cancelled());
        assert_eq!(make_room(&register), Ok(None));
    }
}
