//! Which first words a person may allow for good.

use runward_model::{Confinement, Decision};
use runward_policy::{PrefixRule, too_wide};

use crate::need::{Need, Rules};
use crate::{Approvals, Case};

impl Approvals {
    /// The first words that a person may allow for good: the caller's own wish, else those of the only command that
    /// needs them. Nothing that is too wide, and nothing that would not answer the question.
    pub(crate) fn offered(&self, case: &Case<'_>) -> Option<Vec<String>> {
        self.settings.rules_file.as_ref()?;
        let wished = Some(&case.request.wish.prefix).filter(|prefix| !prefix.is_empty()).cloned();
        // The file of rules is text.
        if case.tied.iter().any(|(file, _)| file.to_str().is_none()) {
            return None;
        }
        let fits = |prefix: &Vec<String>| too_wide(prefix).is_none() && self.would_answer(case, prefix);
        wished.filter(fits).or_else(|| narrowest(case).filter(fits))
    }

    /// Whether a rule for these words would make asking unnecessary.
    fn would_answer(&self, case: &Case<'_>, prefix: &[String]) -> bool {
        let Ok(rule) = rule(prefix, "offered").map(|rule| rule.tied_to(case.tied.clone())) else {
            return false;
        };
        let mut escalations = self.escalations.current();
        if case.request.wish.confinement == Confinement::Escalated {
            escalations = escalations.with_rule(rule.clone()).into();
        }
        let policy = case.policy.with_rule(rule);
        let (verdict, confinement) = ((case.judged)(&policy), case.request.wish.confinement);
        let rules = Rules { when: self.settings.policy, policy: &policy, escalations: &escalations };
        rules.need(&verdict, case.judged, confinement) == Need::Nobody
    }
}

/// A rule that allows what begins with these words.
pub(crate) fn rule(prefix: &[String], place: &str) -> Result<PrefixRule, String> {
    let pattern = prefix.iter().map(|word| vec![word.clone()]).collect();
    PrefixRule::new(pattern, Decision::Allow, "", place)
}

/// All words of the only command that a person is needed for.
fn narrowest(case: &Case<'_>) -> Option<Vec<String>> {
    let by_name = (case.judged)(&case.policy.by_name_only());
    let escalated = case.request.wish.confinement == Confinement::Escalated;
    let mut open = by_name.commands.iter().filter(|judged| escalated || judged.decision != Decision::Allow);
    let first = open.next()?;
    open.all(|other| other.words == first.words).then(|| first.words.clone())
}
