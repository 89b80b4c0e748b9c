//! Asking through the client, by a result that it answers in another call: the way since 2026-07-28.
//!
//! A call that needs an answer is parked: what was resolved and judged waits as it is, and its name goes to the client
//! as the state of the request. The call that brings the answer goes on where the first one stopped. Nothing of a
//! parked call runs meanwhile, and after some time it is dropped.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::JsonObject;
use runward_engine::{Approver, Asking, Said, Session};
use runward_files::random;
use runward_model::{Principal, Question, Refusal};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// A command that is about to start, once somebody has said yes.
pub(crate) type Starting = Pin<Box<dyn Future<Output = Result<Session, Refusal>> + Send>>;

/// What has to be the same in the call that brings the answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Identity {
    /// On whose behalf.
    pub(crate) principal: Principal,
    /// Which tool.
    pub(crate) tool: &'static str,
    /// With what.
    pub(crate) arguments: JsonObject,
}

/// A call that waits for its answer.
pub(crate) struct Parked {
    /// What goes on.
    pub(crate) starting: Starting,
    /// What is asked.
    pub(crate) question: Arc<Question>,
    /// Where the answer goes.
    pub(crate) answer: oneshot::Sender<Result<Said, String>>,
    /// Ends what goes on, for want of an answer.
    pub(crate) late: CancellationToken,
}

impl std::fmt::Debug for Parked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parked").field("question", &self.question.id).finish_non_exhaustive()
    }
}

/// Every call that waits for its answer, by the state that its client was given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds(Arc<Mutex<HashMap<String, (Identity, Parked)>>>);

impl Rounds {
    /// Parks a call for this long, and says under which name.
    pub(crate) fn park(&self, identity: Identity, parked: Parked, within: Duration) -> String {
        // Whoever knows it may answer.
        let state = random::name::<16>();
        self.calls().insert(state.clone(), (identity, parked));
        let (rounds, name) = (Arc::downgrade(&self.0), state.clone());
        tokio::spawn(async move {
            tokio::time::sleep(within).await;
            if let Some(rounds) = rounds.upgrade() {
                let parked = Rounds(rounds).calls().remove(&name);
                if let Some((_, Parked { starting, late, .. })) = parked {
                    late.cancel();
                    // It refuses, and writes that down.
                    drop(starting.await);
                }
            }
        });
        state
    }

    /// Takes the call of this name out, if it is this one. Nobody gets it twice.
    pub(crate) fn take(&self, state: &str, identity: &Identity) -> Option<Parked> {
        let mut calls = self.calls();
        calls.get(state).filter(|(known, _)| known == identity)?;
        calls.remove(state).map(|(_, parked)| parked)
    }

    /// Puts a call back that was taken without an answer.
    pub(crate) fn put_back(&self, state: String, identity: Identity, parked: Parked) {
        self.calls().insert(state, (identity, parked));
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<String, (Identity, Parked)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One question to the client, and the answer that another call brings.
#[derive(Debug)]
pub(crate) struct Round(Mutex<Option<RoundChannels>>);

/// Where the question goes and where the answer comes from.
type RoundChannels = (oneshot::Sender<Arc<Question>>, oneshot::Receiver<Result<Said, String>>);

impl Round {
    /// With the other ends: the question, once it is asked, and where to answer.
    pub(crate) fn new() -> (Self, oneshot::Receiver<Arc<Question>>, oneshot::Sender<Result<Said, String>>) {
        let ((raise, raised), (answer, answered)) = (oneshot::channel(), oneshot::channel());
        (Round(Mutex::new(Some((raise, answered)))), raised, answer)
    }
}

impl Approver for Round {
    fn way(&self) -> &'static str {
        "elicitation"
    }

    /// Its client hears nothing more before the call is answered.
    fn asks_later(&self) -> bool {
        false
    }

    fn ask(&self, question: Arc<Question>) -> Asking {
        let ends = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            let gone = || "the client was asked already".to_owned();
            let (raise, answered) = ends.ok_or_else(gone)?;
            raise.send(question).map_err(|_| gone())?;
            answered.await.map_err(|_| "the client did not come back".to_owned())?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approvals::text::sample;

    fn identity(tool: &'static str) -> Identity {
        Identity { principal: Principal::local(), tool, arguments: JsonObject::new() }
    }

    fn parked() -> Parked {
        let starting: Starting = Box::pin(async { Err(Refusal::ShuttingDown) });
        Parked {
            starting,
            question: Arc::new(sample()),
            answer: oneshot::channel().0,
            late: CancellationToken::new(),
        }
    }

    #[tokio::test]
    async fn a_parked_call_is_given_once_and_only_to_the_same_call() {
        let rounds = Rounds::default();
        let state = rounds.park(identity("a"), parked(), Duration::from_mins(1));
        assert!(rounds.take(&state, &identity("b")).is_none());
        assert!(rounds.take("another", &identity("a")).is_none());
        assert!(rounds.take(&state, &identity("a")).is_some());
        assert!(rounds.take(&state, &identity("a")).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_nobody_comes_back_to_is_dropped() {
        let rounds = Rounds::default();
        let state = rounds.park(identity("a"), parked(), Duration::from_mins(1));
        tokio::time::sleep(Duration::from_secs(61)).await;
        assert!(rounds.take(&state, &identity("a")).is_none());
    }

    #[tokio::test]
    async fn a_round_asks_once() {
        let (round, raised, answer) = Round::new();
        let asking = round.ask(Arc::new(sample()));
        let task = tokio::spawn(asking);
        assert_eq!(*raised.await.expect("a question"), sample());
        drop(answer);
        assert!(task.await.expect("an end").is_err());
        assert!(round.ask(Arc::new(sample())).await.is_err());
    }
}
