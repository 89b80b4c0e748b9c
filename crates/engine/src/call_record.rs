//! What happens to a call between its first record and its last.

use runward_approval::{Record, Recorded, Said};
use runward_audit::redact::Secrets;
use runward_audit::{Answered, Asked, CallId, Entry, Reached, Typed};
use runward_model::{Decision, Question, Refusal};
use runward_proxy::{Decided, Target};

use crate::record::Recorder;

/// Writes down what happens to one call. What cannot be written down does not happen.
#[derive(Clone, Debug)]
pub(crate) struct CallRecorder {
    pub(crate) recorder: Recorder,
    /// Gone where the call is closed already.
    pub(crate) call: Option<CallId>,
    pub(crate) secrets: Secrets,
    /// What questions are about, if not about the command itself.
    pub(crate) host: Option<String>,
}

impl CallRecorder {
    /// Runs as one of the engine's tasks, so that a shutdown waits for it.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.recorder.tasks.spawn(task);
    }

    /// The same for questions about a host.
    pub(crate) fn about(&self, host: &Target) -> Self {
        CallRecorder { host: Some(self.secrets.redact_text(&host.to_string()).into_owned()), ..self.clone() }
    }

    /// Something is about to be typed.
    pub(crate) async fn typed(&self, typed: &[u8]) -> Result<(), Refusal> {
        self.add(|call| Typed::new(call, typed).without(&self.secrets).into()).await
    }

    /// It was decided about a host that the command wants to reach.
    pub(crate) async fn reached(&self, decided: &Decided) -> Result<(), Refusal> {
        let Decided { target, addresses, ruling } = decided.clone();
        let (decision, reason) = match ruling {
            Ok(by) => (Decision::Allow, by),
            Err(why) => (Decision::Deny, why),
        };
        let target = self.secrets.redact_text(&target.to_string()).into_owned();
        self.add(|call| Reached { call, target, addresses, decision, reason }.into()).await
    }

    async fn add(&self, entry: impl FnOnce(CallId) -> Entry) -> Result<(), Refusal> {
        let (Some(trail), Some(call)) = (self.recorder.trail.clone(), self.call.clone()) else {
            return Ok(());
        };
        self.recorder.write(trail, vec![entry(call)]).await.map_err(Refusal::Unrecorded)
    }
}

impl Record for CallRecorder {
    fn asked<'a>(&'a self, question: &'a Question, ways: Vec<String>) -> Recorded<'a> {
        let host = self.host.clone();
        let asked = |call| Asked { host, ..Asked::new(call, question, ways) };
        Box::pin(self.add(|call| asked(call).without(&self.secrets).into()))
    }

    fn answered<'a>(&'a self, said: &'a Said) -> Recorded<'a> {
        let (Said { answer, by }, host) = (said.clone(), self.host.clone());
        Box::pin(self.add(|call| Answered { call, by, answer, host }.without(&self.secrets).into()))
    }
}
