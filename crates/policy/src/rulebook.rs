//! The policy that is in force.

use std::sync::{Arc, PoisonError, RwLock};

use crate::Policy;

/// The policy that is in force, shared by everyone who judges and everyone who may replace it.
#[derive(Clone, Debug)]
pub struct Rulebook(Arc<RwLock<Arc<Policy>>>);

impl Rulebook {
    /// Begins with this policy.
    pub fn new(policy: Policy) -> Self {
        Rulebook(Arc::new(RwLock::new(Arc::new(policy))))
    }

    /// The policy as it is now. Whoever judges one piece of work takes it once, so that one policy judges all of it.
    pub fn current(&self) -> Arc<Policy> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts another policy in force, for everything that is judged from now on.
    pub fn replace(&self, policy: Policy) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
    }

    /// Puts the current policy, changed, in force; changes that happen at the same time all count.
    pub fn amend(&self, change: impl FnOnce(&Policy) -> Policy) {
        let mut policy = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *policy = Arc::new(change(&policy));
    }
}

impl From<Policy> for Rulebook {
    fn from(policy: Policy) -> Self {
        Rulebook::new(policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Allowlist, SearchPath};

    fn policy(list: &str) -> Policy {
        Policy::new(Allowlist::parse(list), SearchPath::new("/usr/bin:/bin".as_ref()))
    }

    #[test]
    fn a_replaced_policy_is_seen_by_every_clone_and_not_by_who_took_the_old_one() {
        let rulebook = Rulebook::new(policy(""));
        let (shared, taken) = (rulebook.clone(), rulebook.current());
        rulebook.replace(policy("ls"));
        assert!(shared.current().allows_something());
        assert!(!taken.allows_something());
    }

    #[test]
    fn an_amendment_starts_from_the_policy_in_force() {
        let rulebook = Rulebook::new(policy("ls"));
        rulebook.amend(|policy| policy.clone().with_rules(crate::Rules::default()));
        assert!(rulebook.current().allows_something());
    }
}
