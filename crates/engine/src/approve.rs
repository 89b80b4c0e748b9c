//! Approve: what a person has to say between the verdict and the plan.

use std::sync::Arc;
use std::time::Duration;

use runward_approval::{Approver, Conversation};
use runward_model::{Refusal, Request};
use runward_policy::Policy;

use crate::plan::Plan;
use crate::record::OpenCall;
use crate::{Engine, workflow};

impl Engine {
    /// Another way to ask people, for every call from now on.
    pub fn attach(&self, approver: Arc<dyn Approver>) {
        self.0.approvals.attach(approver);
    }

    /// How long an answer is waited for.
    pub fn approval_timeout(&self) -> Duration {
        self.0.settings.approvals.timeout
    }

    /// Has a person approve a plan. Its record is open from then on.
    pub(crate) async fn approve(
        &self,
        plan: Plan,
        reason: String,
        conversation: &Conversation,
    ) -> Result<(Plan, Option<OpenCall>), Refusal> {
        let shared = &self.0;
        let open = shared.recorder.open(&plan, &shared.secrets(&plan.request().env)).await?;
        let plan = match Box::pin(plan.with_files(self, &reason)).await {
            Ok(plan) => plan,
            Err(refused) => return Err(self.refuse_in(Some(open), &refused.request, refused.refusal).await),
        };
        let judged = |policy: &Policy| plan.judged_by(policy);
        let recorder = open.recorder();
        let obtained = shared.approvals.obtain(&plan.case(&judged), reason, conversation, &recorder).await;
        let obtained = obtained.and_then(|approved| self.unless_stopped().map(|()| approved));
        match obtained {
            Ok(approved) => Ok((plan.approved(approved), Some(open))),
            Err(refusal) => Err(self.refuse_in(Some(open), plan.request(), refusal).await),
        }
    }

    /// Much may have happened while somebody thought.
    fn unless_stopped(&self) -> Result<(), Refusal> {
        if self.0.stopping.is_cancelled() {
            return Err(Refusal::ShuttingDown);
        }
        workflow::unless_aborted(&self.0.settings.abort_file)
    }

    /// Refuses, and says so in the record that is open, or in one of its own.
    pub(crate) async fn refuse_in(
        &self,
        open: Option<OpenCall>,
        request: &Request,
        refusal: Refusal,
    ) -> Refusal {
        let Some(open) = open else { return self.refuse(request, refusal) };
        self.log_refusal(request, &refusal);
        open.refused(&refusal).await;
        let (on_failure, file) = (request.workflow.on_failure, &self.0.settings.abort_file);
        workflow::after_refusal(on_failure, file, &request.work, &refusal);
        refusal
    }
}
