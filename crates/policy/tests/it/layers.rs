//! Several layers: the strictest wins, and one has to allow.

use std::path::Path;

use proptest::prelude::*;
use runward_model::{Decision, Verdict, Work};
use runward_policy::{Blocked, BlockedPattern, Policy, PrefixRule, Rules, read};

use crate::hostile::around;
use crate::policy;

fn rule(pattern: &[&[&str]], decision: Decision) -> PrefixRule {
    let pattern = pattern.iter().map(|part| part.iter().map(|word| (*word).to_owned()).collect()).collect();
    PrefixRule::new(pattern, decision, "because", "rules.toml:7").unwrap()
}

fn ruled(list: &str, prefixes: Vec<PrefixRule>) -> Policy {
    policy(list).with_rules(Rules { prefixes, ..Rules::default() })
}

fn patterned(list: &str, pattern: &str) -> Policy {
    let patterns = vec![BlockedPattern::parse(pattern, "rules.toml:5").unwrap()];
    policy(list).with_rules(Rules { patterns, ..Rules::default() })
}

fn judge(policy: &Policy, line: &str) -> Verdict {
    policy.judge(&read(&Work::Line(line.into())).unwrap(), Path::new("/"))
}

#[test]
fn a_rule_that_allows_needs_no_entry_in_the_list() {
    let policy = ruled("ls", vec![rule(&[&["git"], &["status", "log"]], Decision::Allow)]);
    for line in ["git status", "git log -3", "ls; git status", "/usr/bin/env", "git log $x"] {
        let wanted = if line.contains("env") { Decision::Deny } else { Decision::Allow };
        assert_eq!(judge(&policy, line).decision, wanted, "{line}");
    }
    for line in [
        "git",
        "git push",
        "git -C x status",
        "git $x",
        "./git status",
        "gitk status",
        "bash -c 'git status'",
    ] {
        assert_eq!(judge(&policy, line).decision, Decision::Deny, "{line}");
    }
    let verdict = judge(&policy, "git status");
    assert_eq!(verdict.rule.as_deref(), Some("rule [\"git\", [\"status\", \"log\"]] (rules.toml:7)"));
}

#[test]
fn a_rule_that_asks_or_denies_wins_over_every_layer_that_allows() {
    let prefixes = vec![
        rule(&[&["git"]], Decision::Allow),
        rule(&[&["git"], &["push", "fetch"]], Decision::Ask),
        rule(&[&["git"], &["push"], &["-f", "--force"]], Decision::Deny),
    ];
    let policy = ruled("*", prefixes);
    let cases = [
        ("git status", Decision::Allow),
        ("git push origin", Decision::Ask),
        ("ls; git fetch", Decision::Ask),
        ("git -C x push", Decision::Ask),
        ("git push -f", Decision::Deny),
        ("git push origin --force", Decision::Deny),
        ("git fetch; git push -f", Decision::Deny),
        ("sh -c 'git fetch'", Decision::Ask),
        ("git $x", Decision::Deny),
    ];
    for (line, wanted) in cases {
        assert_eq!(judge(&policy, line).decision, wanted, "{line}");
    }
    let asked = judge(&policy, "git fetch");
    assert_eq!(
        asked.reason,
        "the rule [\"git\", [\"push\", \"fetch\"]] wants a person to approve this command: because"
    );
}

#[test]
fn what_no_layer_allows_is_denied_although_none_denies_it() {
    let policy = ruled("ls", vec![rule(&[&["git"]], Decision::Ask)]);
    assert_eq!(judge(&policy, "git status").decision, Decision::Deny);
    assert_eq!(judge(&policy, "whoami").decision, Decision::Deny);
}

#[test]
fn where_nothing_is_allowed_a_script_without_commands_is_denied_too() {
    for line in ["> /etc/x", "A=1", "A=1 > x", "f() { A=1; }; f", "[[ a ]]", "((1))"] {
        let verdict = judge(&policy(""), line);
        assert_eq!(verdict.decision, Decision::Deny, "{line}");
        assert_eq!(judge(&policy("ls"), line).decision, Decision::Allow, "{line}");
    }
    assert!(judge(&policy(""), "> /etc/x").reason.starts_with("nothing is allowed"));
}

#[test]
fn a_pattern_is_searched_for_in_the_words_of_one_command() {
    let policy = patterned("*", "curl .*--insecure|/etc/(passwd|shadow)");
    for line in [
        "curl --insecure x",
        "curl -s --inse''cure x",
        "ls; cat /etc/passwd",
        "cat '/etc'/shadow",
        "sh -c 'cat /etc/shadow'",
        "env cat   /etc/passwd",
        "cat \"$x\"",
    ] {
        let verdict = judge(&policy, line);
        assert_eq!(verdict.decision, Decision::Deny, "{line}");
        assert!(verdict.reason.contains("blocked_patterns"), "{}", verdict.reason);
    }
    for line in ["curl x; ls --insecure", "cat /etc/hosts", "ls"] {
        assert_eq!(judge(&policy, line).decision, Decision::Allow, "{line}");
    }
}

#[test]
fn a_pattern_that_is_tied_to_the_beginning_leaves_other_programs_their_variables() {
    let policy = patterned("*", "^git push");
    for line in ["echo $HOME", "ls *", "git log $x", "git -C $x log"] {
        assert_eq!(judge(&policy, line).decision, Decision::Allow, "{line}");
    }
    for line in ["git $x", "git push $x", "$x push", "git push"] {
        assert_eq!(judge(&policy, line).decision, Decision::Deny, "{line}");
    }
    assert_eq!(judge(&patterned("*", "^gi?t"), "git $x").decision, Decision::Deny);
    assert_eq!(judge(&patterned("*", "^ls|rm"), "cat $x").decision, Decision::Deny);
}

#[test]
fn words_are_quoted_in_one_way_before_a_pattern_sees_them() {
    let policy = patterned("*", "^echo 'a b' c$");
    for line in ["echo 'a b' c", "echo \"a b\"   c", "echo a\\ b 'c'"] {
        assert_eq!(judge(&policy, line).decision, Decision::Deny, "{line}");
    }
    assert_eq!(judge(&policy, "echo a b c").decision, Decision::Allow);
}

#[test]
fn a_pattern_that_is_none_or_too_large_is_refused() {
    for text in ["(", "[a", r"(\w{100}){100}{100}"] {
        assert!(BlockedPattern::parse(text, "x").unwrap_err().contains("is no regular expression"), "{text}");
    }
}

#[test]
fn the_examples_of_a_rule_are_checked_as_the_rule_is() {
    let push = rule(&[&["git"], &["push", "fetch"]], Decision::Deny);
    assert_eq!((push.is_about("git push origin"), push.is_about("git status")), (Ok(true), Ok(false)));
    assert_eq!(push.is_about("git -C x push"), Ok(true));
    let allow = rule(&[&["git"], &["push", "fetch"]], Decision::Allow);
    assert_eq!((allow.is_about("git push origin"), allow.is_about("git -C x push")), (Ok(true), Ok(false)));
    assert!(allow.is_about("git push | cat").unwrap_err().contains("no plain command"));
}

#[test]
fn a_pattern_without_a_program_is_refused() {
    let parts = |parts: &[&[&str]]| {
        let parts = parts.iter().map(|part| part.iter().map(|word| (*word).to_owned()).collect()).collect();
        PrefixRule::new(parts, Decision::Allow, "", "x").is_err()
    };
    assert!(parts(&[]) && parts(&[&[]]) && parts(&[&["*"]]) && parts(&[&["ls"], &[]]) && parts(&[&["a,b"]]));
}

#[test]
fn the_suggested_rule_says_what_the_command_does_and_no_more() {
    let verdict = judge(&policy("ls"), "ls; git log -1 \"$x\"; whoami");
    let wanted = "[[rule]]\npattern = [\"git\", \"log\"]\ndecision = \"allow\"\n\n\
                  [[rule]]\npattern = [\"whoami\"]\ndecision = \"allow\"";
    assert_eq!(verdict.suggest.as_deref(), Some(wanted));
    assert_eq!(judge(&policy("ls"), "ls; $x").suggest, None);
    assert_eq!(judge(&policy("ls"), "whoami; eval x").suggest, None);
    assert_eq!(judge(&policy("ls"), "ls").suggest, None);
}

/// A command that a layer of [`layered`] stops, written in one of many ways.
fn stopped() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "canary",
        "c\\anary x",
        "$'\\x63anary'",
        "env canary",
        "sh -c canary",
        "bash -c 'ls; canary'",
        "nohup timeout 1 canary",
        "rm -f -r x",
        "rm --recursive x --force",
        "xargs rm -rf",
        "find . -exec rm -rf {} +",
        "git -C x push",
        "sh -c 'git push'",
        "cat /etc/shadow",
        "git fetch",
        "$x",
    ])
    .prop_map(str::to_owned)
}

fn layered() -> Policy {
    let blocked = ["canary", "rm -rf"].map(|entry| Blocked::parse(entry, "x").unwrap()).to_vec();
    let patterns = vec![BlockedPattern::parse("^cat /etc/shadow", "x").unwrap()];
    let prefixes =
        vec![rule(&[&["git"], &["push"]], Decision::Deny), rule(&[&["git"], &["fetch"]], Decision::Ask)];
    policy("*").with_rules(Rules { blocked, patterns, prefixes })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn a_script_is_never_allowed_when_any_layer_stops_any_command_in_it(script in around(stopped())) {
        let verdict = judge(&layered(), &script);
        prop_assert_ne!(verdict.decision, Decision::Allow);
        let strictest = verdict.commands.iter().map(|judged| judged.decision).max();
        prop_assert!(strictest.is_none_or(|strictest| strictest == verdict.decision));
    }
}
