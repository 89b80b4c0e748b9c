//! Whether a person is needed.

use runward_model::{ApprovalPolicy, Confinement, Decision, Verdict};
use runward_policy::Policy;

use crate::Judge;

/// Who has to say yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nobody.
    Nobody,
    /// A person, for this reason.
    Person(String),
    /// Nobody could: it may not run.
    Denied,
}

/// By what it is decided who has to say yes.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) when: ApprovalPolicy,
    pub(crate) policy: &'a Policy,
    /// Those by which a person has said for good that commands may leave the sandbox.
    pub(crate) escalations: &'a Policy,
}

impl Rules<'_> {
    /// Who has to say yes to work of which the policy says this.
    pub(crate) fn need(&self, verdict: &Verdict, judged: &Judge<'_>, confinement: Confinement) -> Need {
        if verdict.decision == Decision::Ask {
            return Need::Person(verdict.reason.clone());
        }
        if self.when == ApprovalPolicy::Untrusted {
            return self.need_untrusted(judged);
        }
        let escalated = confinement == Confinement::Escalated;
        match verdict.decision {
            Decision::Allow if escalated && judged(self.escalations).decision != Decision::Allow => {
                Need::Person("it asks to run outside the sandbox".into())
            }
            Decision::Allow => Need::Nobody,
            Decision::Ask | Decision::Deny => Need::Denied,
        }
    }

    fn need_untrusted(&self, judged: &Judge<'_>) -> Need {
        if judged(&self.policy.by_name_only()).decision == Decision::Allow {
            return Need::Nobody;
        }
        let objection = judged(&self.policy.unless_objected());
        match objection.decision {
            Decision::Deny => Need::Denied,
            Decision::Ask => Need::Person(objection.reason),
            Decision::Allow => {
                Need::Person("no rule allows it by name, and approval_policy is untrusted".into())
            }
        }
    }
}
