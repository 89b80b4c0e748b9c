//! What a person would have to approve.

use runward_engine::Settings;
use runward_model::{Decision, Refusal};
use runward_policy::{Policy, PrefixRule, Rules};

use crate::setup::*;

#[test]
fn what_needs_approval_is_refused_and_says_that_nobody_is_there_to_ask() {
    let rule = PrefixRule::new(vec![vec!["echo".into()]], Decision::Ask, "loud", "x.toml:1").unwrap();
    let policy = Policy::clone(&settings().policy.current())
        .with_rules(Rules { prefixes: vec![rule], ..Rules::default() });
    let told = Settings { policy: policy.into(), ..settings() };
    under_each_containment_with(&told, async |engine| {
        let refusal = engine.start(line("echo hello")).await.unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "the rule [\"echo\"] wants a person to approve this command: loud; nobody is there to ask, so it was not run"
        );
        assert!(matches!(refusal, Refusal::Denied(verdict) if verdict.decision == Decision::Ask));
    });
}
