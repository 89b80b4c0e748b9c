//! Fuzzes the reader of scripts: whatever the text, it neither panics nor hangs, and nothing gets past the rules.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use runward_model::{Decision, Verdict, Work};
use runward_policy::{Allowlist, Blocked, Policy, Rules, SearchPath, read};
use runward_script::Dialect;

/// The programs that the narrow list allows.
const ALLOWED: &str = "ls,cat,echo,true,env,xargs,find";

/// A program that no list allows.
const CANARY: &str = "canary";

/// Where a script can stand inside another one.
const PLACES: [(&str, &str); 9] = [
    ("ls; ", ""),
    ("", "\nls"),
    ("( ", "\n)"),
    ("echo \"$( ", "\n)\""),
    ("echo <( ", "\n)"),
    ("if ls; then ", "\nfi"),
    ("while ls; do ", "\ndone"),
    ("case a in a) ", "\n;; esac"),
    ("placed() { ", "\n}; placed"),
];

/// The same text under three sets of rules.
struct Rulers {
    narrow: Policy,
    wide: Policy,
    blocking: Policy,
}

static RULERS: LazyLock<Rulers> = LazyLock::new(|| {
    let policy = |list: &str| Policy::new(Allowlist::parse(list), SearchPath::new("/usr/bin:/bin".as_ref()));
    let blocked = Blocked::parse(CANARY, "here").into_iter().collect();
    let rulers = Rulers {
        narrow: policy(ALLOWED),
        wide: policy(&format!("{ALLOWED},{CANARY},wc,sort,head,bash")),
        blocking: policy("*").with_rules(Rules { blocked, ..Rules::default() }),
    };
    for (before, after) in PLACES {
        let harmless = format!("{before}ls{after}");
        assert!(allows(&rulers.narrow, &harmless), "this place proves nothing: {harmless}");
    }
    rulers
});

fuzz_target!(|text: &str| {
    what_is_written_is_what_was_read(text);
    let Rulers { narrow, wide, blocking } = &*RULERS;
    // A script that names the function of the last place, or wants to be in one, is rightly judged otherwise there.
    let is_elsewhere = ["placed", "local", "return"].iter().any(|word| text.contains(word));
    let Some(verdict) = verdict(narrow, text).filter(|_| !is_elsewhere) else { return };
    if verdict.decision == Decision::Allow {
        every_command_is_on_the_list(&verdict);
        assert!(allows(wide, text), "a longer list allows less");
        assert!(!allows(narrow, &format!("{CANARY}\n{text}")), "a command before it goes unseen");
    } else if in_company(narrow, text).is_some_and(|verdict| has_a_denied_command(&verdict)) {
        for (before, after) in PLACES {
            assert!(!allows(narrow, &format!("{before}{text}{after}")), "unseen in {before:?} {after:?}");
        }
    }
    if let Some(verdict) = self::verdict(blocking, text).filter(|it| it.decision == Decision::Allow) {
        let blocked =
            verdict.commands.iter().find(|one| one.words.first().is_some_and(|name| name == CANARY));
        assert_eq!(blocked, None, "a blocked command is allowed");
    }
});

/// What bash is given reads as the very tree that was judged.
fn what_is_written_is_what_was_read(text: &str) {
    let Ok(script) = runward_script::read(text) else { return };
    let Ok(written) = script.written(Dialect::Bash) else { return };
    assert!(written.is_ascii(), "{written:?}");
    assert_eq!(runward_script::read(&written).as_ref(), Ok(&script), "{written:?}");
}

/// How it is judged beside a command that is allowed: what bash does by itself needs an entry only where it is all there is.
fn in_company(policy: &Policy, text: &str) -> Option<Verdict> {
    verdict(policy, &format!("ls\n{text}"))
}

fn verdict(policy: &Policy, text: &str) -> Option<Verdict> {
    let reading = read(&Work::Line(text.to_owned())).ok()?;
    Some(policy.judge(&reading, Path::new("/")))
}

fn allows(policy: &Policy, text: &str) -> bool {
    verdict(policy, text).is_some_and(|verdict| verdict.decision == Decision::Allow)
}

fn has_a_denied_command(verdict: &Verdict) -> bool {
    verdict.commands.iter().any(|one| one.decision == Decision::Deny)
}

fn every_command_is_on_the_list(verdict: &Verdict) {
    for one in &verdict.commands {
        assert_eq!(one.decision, Decision::Allow, "{one:?}");
        let Some(program) = &one.program else { continue };
        let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        assert!(ALLOWED.split(',').any(|allowed| allowed == name), "{one:?}");
    }
}
