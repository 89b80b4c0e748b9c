//! What was found out, in words and as JSON.

use std::fmt::Write as _;

use runward_model::{Network, Profile, Promise};
use serde_json::{Value, json};

use super::Findings;

/// In words.
pub(super) fn as_text(findings: &Findings) -> String {
    let Findings { abilities, enforced, tried, broken, remedy, exceptions, .. } = findings;
    let through = findings.broken_promises();
    let mut text = format!(
        "sandbox: {} (Landlock {}), profile {}, network {}{exceptions}\n{} forbidden acts tried, {} got through\n\n",
        abilities.tier.name(),
        abilities.landlock,
        enforced.profile.name(),
        enforced.network.name(),
        tried.len(),
        through.len()
    );
    for promise in Promise::ALL {
        let by: Vec<&str> =
            through.iter().filter(|(broken, _)| *broken == promise).map(|(_, act)| act.as_str()).collect();
        if promise == Promise::Network && enforced.network == Network::On {
            text.push_str("  open      the network of the host, as the settings say\n");
            continue;
        }
        let _ = match (by.is_empty(), enforced.unkept.contains(&promise)) {
            (true, false) => writeln!(text, "  kept      {}", promise.words()),
            (true, true) => writeln!(text, "  not sure  {}", promise.words()),
            (false, _) => writeln!(text, "  broken    {}: {}", promise.words(), by.join(", ")),
        };
    }
    if enforced.profile == Profile::WorkspaceWrite && !findings.caches {
        text.push_str("\ncaches (sandbox.caches) are only read here: this host lets nobody mount an overlay over them\n");
    }
    for what in broken {
        let _ = writeln!(text, "\nwrong: {what}");
    }
    if !remedy.is_empty() {
        let _ = writeln!(text, "\n{remedy}");
    }
    text
}

/// As JSON.
pub(super) fn as_json(findings: &Findings) -> serde_json::Result<String> {
    let Findings { abilities, enforced, tried, broken, remedy, .. } = findings;
    let through = findings.broken_promises();
    let promises: Vec<Value> = Promise::ALL.iter().map(|promise| told(findings, *promise)).collect();
    let acts: Vec<Value> = tried
        .iter()
        .map(|tried| json!({ "act": tried.act, "promise": tried.promise, "refused": tried.refused }))
        .collect();
    let value = json!({
        "sound": findings.is_sound(),
        "tier": abilities.tier,
        "landlock": abilities.landlock,
        "profile": enforced.profile,
        "network": enforced.network,
        "tried": tried.len(),
        "got_through": through.len(),
        "promises": promises,
        "acts": acts,
        "caches": findings.caches,
        "wrong": broken,
        "remedy": remedy,
    });
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

fn told(findings: &Findings, promise: Promise) -> Value {
    let broken: Vec<String> =
        findings.broken_promises().into_iter().filter(|(by, _)| *by == promise).map(|(_, act)| act).collect();
    let kept = broken.is_empty() && !findings.enforced.unkept.contains(&promise);
    json!({ "promise": promise, "words": promise.words(), "kept": kept, "broken_by": broken })
}
