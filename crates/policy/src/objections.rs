//! What a script does besides running commands that could change what its commands are.

use runward_model::{Decision, Judged};

use crate::variables::{Case, is_always_a_number, is_never_a_number, sets};
use crate::weigh::{Scene, Weighed};
use runward_script::{is_builtin, is_identifier};

impl Scene<'_> {
    /// A function may not take the place of a command, and no later call of that command could tell.
    pub(crate) fn objection_to_function(&self, name: &str) -> Option<Weighed> {
        let shadows =
            is_builtin(name) || self.policy.path.find(name).is_some() || self.policy.allowlist.names(name);
        let why = format!("the function \"{name}\" would take the place of a command; give it another name");
        shadows.then(|| self.objection(format!("{name}()"), why)).flatten()
    }

    /// A variable that decides what runs may not be set.
    pub(crate) fn objection_to_variable(&self, name: &str, value: Option<&str>) -> Option<Weighed> {
        let entry = self.policy.objection_to_setting(name, Case::AsPrograms)?;
        if self.policy.is_tame_program(name, value) {
            return None;
        }
        self.objection(format!("{name}="), sets(name, entry))
    }

    /// A variable that is evaluated has to hold a number there, whoever gave it a value before.
    pub(crate) fn objection_to_counting(&self, name: &str, known: bool) -> Option<Weighed> {
        if known || is_always_a_number(name) {
            return None;
        }
        let advice = if is_never_a_number(name) {
            "use a variable of another name".to_owned()
        } else if !is_identifier(name) {
            format!("write $(printf %d \"{name}\") in its place")
        } else {
            format!(
                "write $(printf %d \"${name}\") in its place, or give it a plain number on a line before it, such as: {name}=0 or {name}=$(printf %d \"${name}\")"
            )
        };
        let why = format!(
            "\"{name}\" is evaluated as arithmetic and may hold more than a number there, which bash would run; {advice}"
        );
        self.objection(name.to_owned(), why)
    }

    fn objection(&self, shown: String, reason: String) -> Option<Weighed> {
        let decision = Decision::Deny;
        let judged =
            Judged { words: vec![shown], program: None, decision, reason, rule: None, profile: None };
        self.must_read().then_some(Weighed { judged, suggest: None, missing: None })
    }
}
