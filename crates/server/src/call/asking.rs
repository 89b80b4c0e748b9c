//! Starting a command, with a person asked in between where one is needed.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{InputResponses, RequestId};
use rmcp::service::Peer;
use runward_engine::{Approver, Conversation, Engine, Said, Session, Watch};
use runward_model::{Refusal, Request};
use tokio_util::sync::CancellationToken;

use crate::approvals::{self, Elicitation, Identity, KEY, Parked, Round, Rounds, Starting};
use crate::tools::Reply;

/// How the user of the client that called can be asked.
#[derive(Debug)]
pub(crate) struct Asker {
    pub(crate) way: Way,
    /// Whoever answers there.
    pub(crate) by: String,
    /// Which calls share what was approved for the session.
    pub(crate) conversation: Arc<str>,
    /// Whether anybody who reaches the listener could be calling.
    pub(crate) is_open_to_all: bool,
    /// Cancelled when the caller no longer waits.
    pub(crate) given_up: Vec<CancellationToken>,
    /// Calls that wait for their answers.
    pub(crate) rounds: Rounds,
    /// What this call is.
    pub(crate) identity: Identity,
}

/// By which means of the protocol.
#[derive(Debug)]
pub(crate) enum Way {
    /// By none: the client cannot.
    Nobody,
    /// By a request to the client while the call, of this id, waits.
    Request(Peer<RoleServer>, RequestId),
    /// By the result of the call; the next call may bring the answer.
    Result(Option<Resumed>),
}

/// What a call brings back from an earlier one.
#[derive(Debug)]
pub(crate) struct Resumed {
    pub(crate) state: String,
    pub(crate) answers: InputResponses,
}

/// How far a call came.
#[derive(Debug)]
pub(crate) enum Begun {
    /// It runs.
    Started(Box<Session>),
    /// It does not.
    Refused(Refusal),
    /// There is something to say first.
    Reply(Reply),
}

impl From<Result<Session, Refusal>> for Begun {
    fn from(started: Result<Session, Refusal>) -> Self {
        match started {
            Ok(session) => Begun::Started(Box::new(session)),
            Err(refusal) => Begun::Refused(refusal),
        }
    }
}

impl Asker {
    /// Starts a command, or goes on with one that waited for this call's answer.
    pub(crate) async fn start(mut self, engine: &Engine, request: Request, watch: Watch) -> Begun {
        match std::mem::replace(&mut self.way, Way::Nobody) {
            Way::Nobody => engine.start(request, &self.conversing(None), watch).await.into(),
            Way::Request(peer, call) => {
                let elicitation = Elicitation { peer, call, by: self.by.clone() };
                let conversation = self.conversing(Some(Arc::new(elicitation)));
                engine.start(request, &conversation, watch).await.into()
            }
            Way::Result(None) => self.first_round(engine, request, watch).await,
            Way::Result(Some(resumed)) => self.next_round(resumed).await,
        }
    }

    fn conversing(&self, approver: Option<Arc<dyn Approver>>) -> Conversation {
        let (name, given_up) = (self.conversation.clone(), self.given_up.clone());
        Conversation { approver, name, given_up, is_open_to_all: self.is_open_to_all }
    }

    /// Goes on until the client has to be asked, and then waits without it.
    async fn first_round(mut self, engine: &Engine, request: Request, watch: Watch) -> Begun {
        // The client goes away with this call's answer, and comes back with the next call.
        let late = CancellationToken::new();
        self.given_up = vec![late.clone()];
        let (round, mut raised, answer) = Round::new();
        let (conversation, runs_on) = (self.conversing(Some(Arc::new(round))), engine.clone());
        let mut starting: Starting =
            Box::pin(async move { runs_on.start(request, &conversation, watch).await });
        tokio::select! {
            biased;
            Ok(question) = &mut raised => {
                let parked = Parked { starting, question: question.clone(), answer, late };
                let state = self.rounds.park(self.identity, parked, engine.approval_timeout());
                Begun::Reply(Reply::asks(approvals::asked(&question), state))
            }
            begun = &mut starting => begun.into(),
        }
    }

    async fn next_round(self, resumed: Resumed) -> Begun {
        let Resumed { state, answers } = resumed;
        let Some(parked) = self.rounds.take(&state, &self.identity) else {
            let why =
                "this question is no longer open, or was asked by another call; nothing was run, call again";
            return Begun::Reply(Reply::failed(why));
        };
        let Some(answer) = answers.get(KEY) else {
            let asks = Reply::asks(approvals::asked(&parked.question), state.clone());
            self.rounds.put_back(state, self.identity, parked);
            return Begun::Reply(asks);
        };
        let Parked { starting, answer: channel, .. } = parked;
        let said = approvals::read_answer(answer).map(|answer| Said { answer, by: self.by });
        // Nobody listens any more where another way was faster.
        let _ = channel.send(said);
        starting.await.into()
    }
}
