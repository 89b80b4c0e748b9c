//! The sentence of a refusal: everything that is not allowed, once each, and what would change that.

use runward_model::Decision;

use crate::Allowlist;
use crate::weigh::Weighed;

/// A reader needs no more reasons than this to see that a line has to be written in another way.
const MOST_REASONS: usize = 4;

/// More commands than this are counted and not named.
const MOST_NAMES: usize = 16;

/// Why a line may not run: first what the first denied command is denied for, then whatever else speaks against it.
pub(crate) fn denial(weighed: &[Weighed], list: &Allowlist, allows_something: bool) -> String {
    let denied = || weighed.iter().filter(|one| one.judged.decision == Decision::Deny);
    let mut missing: Vec<&str> = Vec::new();
    for name in denied().filter_map(|one| one.missing.as_deref()) {
        if !missing.contains(&name) {
            missing.push(name);
        }
    }
    let mut reasons: Vec<String> = Vec::new();
    for one in denied() {
        let reason = match &one.missing {
            Some(_) => not_allowed(&missing, list, allows_something),
            None => one.judged.reason.clone(),
        };
        if !reasons.iter().any(|known| known.starts_with(&reason)) {
            reasons.push(reason);
        }
    }
    let more = reasons.len().saturating_sub(MOST_REASONS);
    reasons.truncate(MOST_REASONS);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    reasons.join("; also: ") + &more
}

fn not_allowed(missing: &[&str], list: &Allowlist, allows_something: bool) -> String {
    let change = if allows_something {
        "set ALLOWED_COMMANDS to change this"
    } else {
        "to begin, set ALLOWED_COMMANDS to names such as ls,cat, or POLICY_DIR to a directory of rules in Rego"
    };
    let (noun, verb) = if missing.len() == 1 { ("command", "is") } else { ("commands", "are") };
    let names = named(missing);
    let advice = match missing {
        ["cd" | "pushd" | "popd"] => {
            "; by itself it changes nothing for later calls: give the directory as cwd, or write && and a command behind it"
        }
        _ => "",
    };
    format!("{noun} {names} {verb} not allowed; allowed commands: {} ({change}){advice}", list.listing())
}

/// `"a", "b" and "c"`
fn named(names: &[&str]) -> String {
    let mut shown: Vec<String> = names.iter().take(MOST_NAMES).map(|name| format!("\"{name}\"")).collect();
    if let Some(more) = names.len().checked_sub(MOST_NAMES).filter(|more| *more > 0) {
        shown.push(format!("{more} more"));
    }
    match shown.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => shown.concat(),
    }
}
