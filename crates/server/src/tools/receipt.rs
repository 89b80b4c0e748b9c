//! The receipt that every result and every refusal carries: what the policy said, and why.

use rmcp::model::JsonObject;
use runward_model::{Decision, Judged, Outcome, Profile, Receipt, Refusal, Verdict};
use serde_json::{Value, json};

/// More commands than this are counted and not shown.
const COMMANDS: usize = 32;

/// More words of one command than this are counted and not shown.
const WORDS: usize = 24;

/// Longer work is cut.
const WORK: usize = 2048;

/// Longer words are cut.
const WORD: usize = 120;

/// `policy { decision, rule, commands, reason, suggest }`, bounded; what is absent is left out.
pub(crate) fn of(verdict: &Verdict) -> Value {
    let mut policy = rmcp::object!({ "decision": verdict.decision, "reason": verdict.reason });
    for (name, text) in [("rule", &verdict.rule), ("suggest", &verdict.suggest)] {
        if let Some(text) = text {
            policy.insert(name.to_owned(), json!(text));
        }
    }
    let shown = verdict.commands.iter().take(COMMANDS);
    let commands: Vec<_> = shown.map(|judged| command(judged, &verdict.reason)).collect();
    policy.insert("commands".to_owned(), Value::Array(commands));
    if let Some(more) = verdict.commands.len().checked_sub(COMMANDS).filter(|more| *more > 0) {
        policy.insert("more_commands".to_owned(), json!(more));
    }
    Value::Object(policy)
}

/// The receipt of what ran: the same, and what it was confined to.
pub(crate) fn of_run(receipt: &Receipt) -> Value {
    let mut policy = of(&receipt.verdict);
    let enforced = &receipt.enforced;
    if let Some(fields) = policy.as_object_mut().filter(|_| enforced.profile != Profile::FullAccess) {
        let (profile, network, tier) = (enforced.profile, enforced.network, enforced.tier);
        let mut sandbox = rmcp::object!({ "profile": profile, "network": network, "tier": tier });
        if let Some(workspace) = &enforced.workspace {
            sandbox.insert("workspace".to_owned(), json!(workspace.to_string_lossy()));
        }
        if !enforced.published.is_empty() {
            sandbox.insert("published".to_owned(), json!(enforced.published));
        }
        if let Some(warning) = enforced.warning() {
            sandbox.insert("missing".to_owned(), json!(enforced.unkept));
            sandbox.insert("warning".to_owned(), json!(warning));
        }
        fields.insert("sandbox".to_owned(), Value::Object(sandbox));
    }
    policy
}

/// What a caller should know of the sandbox: what was refused by it, and what it does not keep.
pub(crate) fn sandbox_note(receipt: &Receipt, outcome: &Outcome) -> Option<String> {
    let warning = receipt.enforced.warning().map(|warning| format!("sandbox: {warning}"));
    let notes: Vec<String> = [outcome.denied.clone(), warning].into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// The receipt of work that never ran. What is refused for another reason than a rule is denied all the same.
pub(crate) fn of_refusal(refusal: &Refusal) -> Value {
    match refusal {
        Refusal::Denied(verdict) => of(verdict),
        Refusal::NotApproved { verdict, why } => {
            of(&Verdict { reason: format!("{}; {why}", verdict.reason), ..(**verdict).clone() })
        }
        other => of(&Verdict { reason: other.to_string(), ..Verdict::default() }),
    }
}

/// The work as a reply repeats it: its caller knows the rest of what is long.
pub(crate) fn repeated(work: &str) -> String {
    match work.get(..work.floor_char_boundary(WORK)) {
        Some(begin) if begin.len() < work.len() => {
            format!("{begin}… ({} more bytes)", work.len() - begin.len())
        }
        _ => work.to_owned(),
    }
}

/// One command; an allowed one says no more than what it is, and one that is the whole reason does not repeat that.
fn command(judged: &Judged, said: &str) -> Value {
    let mut words: Vec<_> = judged.words.iter().take(WORDS).map(|word| shortened(word)).collect();
    if let Some(more) = judged.words.len().checked_sub(WORDS).filter(|more| *more > 0) {
        words.push(format!("… {more} more"));
    }
    let mut shown: JsonObject = rmcp::object!({ "words": words, "decision": judged.decision });
    if let Some(program) = &judged.program {
        shown.insert("program".to_owned(), json!(program.to_string_lossy()));
    }
    if judged.decision != Decision::Allow && judged.reason != said {
        shown.insert("reason".to_owned(), json!(judged.reason));
    }
    Value::Object(shown)
}

fn shortened(word: &str) -> String {
    match word.char_indices().nth(WORD) {
        Some((end, _)) => format!("{}…", word.get(..end).unwrap_or_default()),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(words: &[&str], decision: Decision) -> Judged {
        let words = words.iter().map(ToString::to_string).collect();
        Judged {
            words,
            program: Some("/usr/bin/x".into()),
            decision,
            reason: "because".into(),
            rule: None,
            profile: None,
        }
    }

    #[test]
    fn a_receipt_names_every_command_and_gives_reasons_for_those_that_may_not_run() {
        let verdict = Verdict {
            decision: Decision::Deny,
            reason: "no".into(),
            rule: Some("rule 3".into()),
            suggest: None,
            commands: vec![judged(&["ls", "-l"], Decision::Allow), judged(&["rm"], Decision::Deny)],
        };
        let wanted = json!({
            "decision": "deny", "reason": "no", "rule": "rule 3",
            "commands": [
                {"words": ["ls", "-l"], "decision": "allow", "program": "/usr/bin/x"},
                {"words": ["rm"], "decision": "deny", "program": "/usr/bin/x", "reason": "because"},
            ],
        });
        assert_eq!(of(&verdict), wanted);
        assert_eq!(of_refusal(&Refusal::Denied(verdict)), wanted);
    }

    #[test]
    fn what_is_said_once_is_not_said_again() {
        let verdict = Verdict {
            decision: Decision::Deny,
            reason: "because".into(),
            commands: vec![judged(&["rm"], Decision::Deny)],
            ..Verdict::default()
        };
        assert!(of(&verdict)["commands"][0].get("reason").is_none());
        assert_eq!(repeated("ls"), "ls");
        let long = repeated(&"é".repeat(2000));
        assert!(long.len() < 2100 && long.ends_with("é… (1952 more bytes)"), "{long}");
    }

    #[test]
    fn a_refusal_that_no_rule_made_is_a_denial_with_its_reason() {
        let policy = of_refusal(&Refusal::ShuttingDown);
        assert_eq!((&policy["decision"], &policy["commands"]), (&json!("deny"), &json!([])));
        assert_eq!(policy["reason"], "the server is shutting down; nothing was run");
    }

    #[test]
    fn a_receipt_stays_small_whatever_the_work() {
        let word = "é".repeat(1000);
        let words = vec![word.as_str(); 50];
        let verdict = Verdict { commands: vec![judged(&words, Decision::Allow); 40], ..Verdict::default() };
        let policy = of(&verdict);
        assert_eq!(policy["more_commands"], 8);
        assert_eq!(policy["commands"][0]["words"][24], "… 26 more");
        assert!(policy.to_string().len() < 256 * 1024);
    }
}
