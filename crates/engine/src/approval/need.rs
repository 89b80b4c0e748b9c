//! Whether a person is needed.

use runward_model::{ApprovalPolicy, Confinement, Decision};
use runward_policy::Policy;

use super::Case;

/// Who has to say yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Nobody.
    Nobody,
    /// A person, for this reason.
    Person(String),
    /// Nobody could: it may not run.
    Denied,
}

/// Who has to say yes under these rules. Rules of `escalations` are those by which a person has said so for good.
pub(super) fn need(when: ApprovalPolicy, policy: &Policy, escalations: &Policy, case: &Case<'_>) -> Need {
    let judged = case.judged;
    let verdict = judged(policy);
    let untrusted = when == ApprovalPolicy::Untrusted;
    match verdict.decision {
        Decision::Ask => Need::Person(verdict.reason),
        Decision::Deny if !untrusted => Need::Denied,
        Decision::Allow if !untrusted => {
            let escalated = case.request.wish.confinement == Confinement::Escalated;
            if escalated && judged(escalations).decision != Decision::Allow {
                return Need::Person("it asks to run outside the sandbox".into());
            }
            Need::Nobody
        }
        Decision::Allow | Decision::Deny => {
            if judged(&policy.by_name_only()).decision == Decision::Allow {
                return Need::Nobody;
            }
            match judged(&policy.unless_objected()) {
                verdict if verdict.decision == Decision::Deny => Need::Denied,
                verdict if verdict.decision == Decision::Ask => Need::Person(verdict.reason),
                _ => Need::Person("no rule allows it by name, and approval_policy is untrusted".into()),
            }
        }
    }
}
