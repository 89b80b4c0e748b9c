//! Asking: every way at once, and the first answer counts.

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};

use runward_model::{Answer, Question, Refusal};
use tokio::task::JoinSet;

use crate::{Approvals, Conversation, Record};

/// What was said, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// What.
    pub answer: Answer,
    /// By whom, as far as that can be told, in words for the record and for the caller.
    pub by: String,
}

/// An answer that is waited for, or why none will come this way. Dropped when another way was faster, when nobody
/// answers in time, and when whoever called no longer waits: then the question is to be taken back.
pub type Asking = Pin<Box<dyn Future<Output = Result<Said, String>> + Send>>;

/// A way to ask people.
pub trait Approver: Debug + Send + Sync {
    /// What the record calls it.
    fn way(&self) -> &'static str;

    /// Whether it can ask while a command runs, too.
    fn asks_later(&self) -> bool {
        true
    }

    /// Shows them the question and waits.
    fn ask(&self, question: Arc<Question>) -> Asking;
}

impl Approvals {
    /// What people say, or why nothing came; an error means that asking itself failed.
    pub(crate) async fn ask(
        &self,
        question: &Arc<Question>,
        conversation: &Conversation,
        record: &dyn Record,
    ) -> Result<Result<Said, String>, Refusal> {
        let attached = self.attached.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let own = conversation.approver.iter().filter(|_| !self.is_doubtful(conversation));
        let approvers: Vec<_> = own.cloned().chain(attached).collect();
        let ways = approvers.iter().map(|approver| approver.way().to_owned()).collect();
        record.asked(question, ways).await?;
        let mut asking = JoinSet::new();
        for approver in approvers {
            asking.spawn(approver.ask(question.clone()));
        }
        let timeout = self.settings.timeout;
        tokio::select! {
            biased;
            () = self.stopping.cancelled() => Err(Refusal::ShuttingDown),
            () = conversation.given_up() => {
                Ok(Err("whoever called no longer waits for an answer".into()))
            }
            said = first(&mut asking, self.is_doubtful(conversation)) => Ok(said),
            () = tokio::time::sleep(timeout) => {
                Ok(Err(format!("nobody answered within {} s", timeout.as_secs())))
            }
        }
    }
}

impl Approvals {
    /// Whether a command that runs in the sandbox could be the one that answers.
    fn is_doubtful(&self, conversation: &Conversation) -> bool {
        conversation.is_open_to_all && Arc::strong_count(&self.networked) > 1
    }
}

impl Conversation {
    /// Ends when whoever called no longer waits. May be dropped.
    pub async fn given_up(&self) {
        let mut waiting = JoinSet::new();
        for token in &self.given_up {
            waiting.spawn(token.clone().cancelled_owned());
        }
        if waiting.join_next().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

/// The first answer, or why there is none.
async fn first(asking: &mut JoinSet<Result<Said, String>>, doubtful: bool) -> Result<Said, String> {
    let mut why = "nobody is there to ask".to_owned();
    if doubtful {
        why += " (the client is not asked while a confined command has the host's network and could answer in its place: \
            set RUNWARD_TOKEN, or answer with `runward approvals`)";
    }
    while let Some(said) = asking.join_next().await {
        match said {
            Ok(Ok(said)) => return Ok(said),
            Ok(Err(no_answer)) => why = no_answer,
            Err(error) => why = error.to_string(),
        }
    }
    Err(why)
}
