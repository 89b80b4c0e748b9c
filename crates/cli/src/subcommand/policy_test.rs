//! `runward policy test`: which of the built-in attacks the operator's rules would let through.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use runward_policy::{Breach, Policy, Trial};
use serde_json::json;

use crate::args::{Common, PolicyTest};
use crate::config::Config;
use crate::exit::Exit;
use crate::printable::printable;
use crate::wiring;

/// Prints what would get through; the exit code says whether anything would.
pub(crate) fn run(args: &PolicyTest, common: &Common) -> anyhow::Result<Exit> {
    let config = Config::load(common.config.as_deref(), &common.flags())?;
    crate::log::start(&config.log)?;
    let policy = wiring::policy(&config);
    let trial = policy.withstand();
    let text = if args.json { as_json(&policy, &trial)? } else { told(&policy, &trial) };
    io::stdout().write_all(text.as_bytes())?;
    Ok(if trial.through.is_empty() { Exit::Success } else { Exit::No })
}

/// What has to be known to read the result.
fn note(policy: &Policy) -> Option<&'static str> {
    if !policy.restricts() {
        return Some("* allows every command and nothing is blocked, so there is nothing to get around");
    }
    if !policy.allows_something() {
        return Some("no command is allowed, so nothing can get through");
    }
    policy.has_patterns().then_some(
        "blocked_patterns are not tried, since no command can be made from them; ask `runward check` about yours",
    )
}

fn as_json(policy: &Policy, trial: &Trial) -> serde_json::Result<String> {
    let through = |breach: &Breach| {
        let Breach { attack, verdict } = breach;
        json!({
            "group": attack.group,
            "line": attack.line,
            "aim": attack.aim,
            "reason": verdict.reason,
            "rule": verdict.rule,
        })
    };
    let through: Vec<_> = trial.through.iter().map(through).collect();
    let refused = trial.attacks - trial.through.len();
    let value = json!({
        "attacks": trial.attacks,
        "targets": trial.targets,
        "refused": refused,
        "through": through,
        "note": note(policy),
    });
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

fn told(policy: &Policy, trial: &Trial) -> String {
    let Trial { attacks, through, targets } = trial;
    let aimed = match targets {
        0 => String::new(),
        1 => " (a blocked command among their targets)".to_owned(),
        count => format!(" ({count} blocked commands among their targets)"),
    };
    let mut text = String::new();
    if let Some(note) = note(policy) {
        let _ = writeln!(text, "Note: {note}.\n");
    }
    // Where nothing is refused, a list of everything would say no more than the note.
    if policy.restricts() {
        tell_breaches(&mut text, through);
    }
    let _ = match through.len() {
        0 => writeln!(text, "All {attacks} attacks{aimed} are refused."),
        let_through => writeln!(text, "{let_through} of {attacks} attacks{aimed} would get through."),
    };
    text
}

fn tell_breaches(text: &mut String, through: &[Breach]) {
    let mut group = "";
    for Breach { attack, verdict } in through {
        if attack.group != group {
            group = attack.group;
            let _ = writeln!(text, "{group}");
        }
        let _ = writeln!(text, "  {}", printable(&attack.line));
        let _ = writeln!(text, "      {}", printable(&verdict.reason));
    }
    if !through.is_empty() {
        text.push('\n');
    }
}
