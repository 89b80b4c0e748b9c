//! Asking whether a command that runs may reach a host.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use runward_model::{Answer, ApprovalPolicy, Principal, Question};
use runward_proxy::Target;

use crate::{Approvals, Case, Conversation, Record, question};

/// What is asked again and again while a command runs, and whom.
#[derive(Clone, Debug)]
pub struct AboutHosts {
    /// All but its reason and its id.
    question: Question,
    conversation: Conversation,
    principal: Principal,
}

/// Hosts that a person has opened for a whole conversation.
pub(crate) type OpenHosts = Mutex<HashSet<(Principal, Arc<str>, Target)>>;

/// More of them are not remembered.
const MOST: usize = 1024;

impl AboutHosts {
    /// About exactly this command; `None` when a person could not read what it is.
    pub fn new(case: &Case<'_>, conversation: &Conversation) -> Option<Self> {
        let question = question::question(case, "", None).ok()?;
        // Whoever called may be gone by then; what the command wants to know it still does.
        let approver = conversation.approver.clone().filter(|approver| approver.asks_later());
        let conversation = Conversation { given_up: Vec::new(), approver, ..conversation.clone() };
        let principal = case.request.caller.principal.clone();
        Some(AboutHosts { question, conversation, principal })
    }
}

impl Approvals {
    /// Whether a person lets a command reach a host: who does, or why not.
    pub async fn may_reach(
        &self,
        target: &Target,
        about: &AboutHosts,
        record: &dyn Record,
    ) -> Result<String, String> {
        if self.settings.policy == ApprovalPolicy::Never {
            return Err("a person would have to allow it, and approval_policy is never".into());
        }
        let key = (about.principal.clone(), about.conversation.name.clone(), target.clone());
        if self.open_hosts.lock().unwrap_or_else(PoisonError::into_inner).contains(&key) {
            return Ok("approved earlier for this session".into());
        }
        let Ok(_open) = self.open.try_acquire() else { return Err("too many questions are open".into()) };
        let reason = format!("the command runs and wants to reach {target}; a denial only concerns that");
        let question = Question { id: question::fresh_id(), reason, ..about.question.clone() };
        let said = self.ask(&Arc::new(question), &about.conversation, record).await;
        let said = said.map_err(|refusal| refusal.to_string())??;
        record.answered(&said).await.map_err(|refusal| refusal.to_string())?;
        match said.answer {
            Answer::Deny { note } => {
                let note = note.map(|note| format!(": {note}")).unwrap_or_default();
                Err(format!("denied by {}{note}", said.by))
            }
            Answer::ApproveOnce | Answer::AlwaysAllowPrefix => Ok(format!("approved by {}", said.by)),
            Answer::ApproveForSession => {
                let mut open = self.open_hosts.lock().unwrap_or_else(PoisonError::into_inner);
                if open.len() < MOST && !about.principal.is_any_client() {
                    open.insert(key);
                }
                Ok(format!("approved for this session by {}", said.by))
            }
        }
    }
}
