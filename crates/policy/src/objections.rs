//! What a script does besides running commands that could change what its commands are.

use runward_model::{Decision, Judged};

use crate::builtins::is_builtin;
use crate::variables::{decides_what_runs, is_always_a_number, is_never_a_number};
use crate::weigh::{Scene, Weighed};

impl Scene<'_> {
    /// A function may not take the place of a command, and no later call of that command could tell.
    pub(crate) fn objection_to_function(&self, name: &str) -> Option<Weighed> {
        let shadows =
            is_builtin(name) || self.policy.path.find(name).is_some() || self.policy.allowlist.names(name);
        let why = format!("the function \"{name}\" would take the place of a command; give it another name");
        shadows.then(|| self.objection(format!("{name}()"), why)).flatten()
    }

    /// A variable that decides what runs may not be set.
    pub(crate) fn objection_to_variable(&self, name: &str) -> Option<Weighed> {
        let why = || format!("{}; {}", sets(name), self.policy.advice());
        decides_what_runs(name).then(|| self.objection(format!("{name}="), why())).flatten()
    }

    /// A variable that is evaluated has to hold a number.
    pub(crate) fn objection_to_counting(&self, name: &str) -> Option<Weighed> {
        let numbers =
            self.survey.is_some_and(|survey| survey.holds_numbers(name)) && !is_never_a_number(name);
        let advice = self.policy.advice();
        let why = format!(
            "\"{name}\" is evaluated as arithmetic and may hold more than a number, which bash would run; give it plain \
             numbers only; {advice}"
        );
        let safe = numbers || is_always_a_number(name);
        (!safe).then(|| self.objection(name.to_owned(), why)).flatten()
    }

    fn objection(&self, shown: String, reason: String) -> Option<Weighed> {
        let decision = Decision::Deny;
        let judged =
            Judged { words: vec![shown], program: None, decision, reason, rule: None, profile: None };
        self.must_read().then_some(Weighed { judged, suggest: None })
    }
}

/// The sentence for a variable that may not be set.
pub(crate) fn sets(variable: &str) -> String {
    format!("the variable \"{variable}\" decides what other commands run and may not be set; leave it out")
}
