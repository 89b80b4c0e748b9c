//! Input that is made to break a reader.

use std::path::Path;

use proptest::prelude::*;
use runward_model::{Decision, Work};
use runward_policy::read;

use crate::{judge, policy};

fn survives(line: &str) -> Decision {
    match read(&Work::Line(line.to_owned())) {
        Ok(reading) => policy("ls,cat,echo").judge(&reading, Path::new("/")).decision,
        Err(_) => Decision::Deny,
    }
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    for (open, inside, close) in [
        ("$(", "ls", ")"),
        ("(", "ls", ")"),
        ("( ", "ls", " )"),
        ("{ ", "ls", "; }"),
        ("((", "1", "))"),
        ("$((", "1", "))"),
        ("${x:-", "a", "}"),
        ("\"${x:-", "a", "}\""),
        ("\"$(", "ls", ")\""),
        ("<(", "ls", ")"),
        ("if ", "ls", "; then ls; fi"),
        ("case x in x) ", "ls", ";; esac"),
        ("case x in x) ", "ls", "\nesac"),
        ("for x in 1; do ", "ls", "; done"),
        ("f() { ", "ls", "; }"),
        ("coproc { ", "ls", "; }"),
        ("[[ ( ", "a", " ) ]]"),
        ("! ", "ls", ""),
        ("env ", "ls", ""),
        ("time ", "ls", ""),
        ("a[", "1", "]"),
        ("`", "ls", "`"),
        ("\\", "ls", ""),
        ("'", "ls", "'"),
        ("x=(", "1", ")"),
    ] {
        for depth in [5, 17, 40, 5_000] {
            let line = format!("echo {}{inside}{}", open.repeat(depth), close.repeat(depth));
            survives(&line);
            let line = format!("{}{inside}{}", open.repeat(depth), close.repeat(depth));
            survives(&line);
        }
    }
    let deep = format!("{}ls{}", "( ".repeat(200), " )".repeat(200));
    assert!(judge("ls", &deep).reason.contains("levels deep"));
}

#[test]
fn a_command_is_looked_through_word_by_word_but_not_again_inside_each_word() {
    let blocked = vec![runward_policy::Blocked::parse("rm -rf", "x").unwrap()];
    let policy = policy("*").with_rules(runward_policy::Rules { blocked, ..Default::default() });
    let judge = |line: String| policy.judge(&read(&Work::Line(line)).unwrap(), Path::new("/"));
    assert_eq!(judge("npm ".repeat(100) + "ls").decision, Decision::Allow);
    assert_eq!(judge("npm ".repeat(100) + "rm -rf x").decision, Decision::Deny);
    assert_eq!(judge("npm env ".repeat(120) + "ls").decision, Decision::Allow);
    let long = judge(format!("npm {}rm -rf x", "-x y ".repeat(200)));
    assert!(long.reason.contains("not looked through"), "{}", long.reason);
}

#[test]
fn a_script_that_is_too_long_is_refused() {
    let verdict = judge("ls", &"ls;".repeat(400_000));
    assert_eq!(verdict.decision, Decision::Deny);
    assert!(verdict.reason.contains("longer than"), "{}", verdict.reason);
}

#[test]
fn a_long_plain_line_is_split_in_one_pass() {
    assert_eq!(survives(&format!("ls {}", "\\\n".repeat(500_000))), Decision::Allow);
    assert_eq!(survives(&format!("ls{}", "\n".repeat(1_000_000))), Decision::Allow);
    assert_eq!(survives(&"read ".repeat(13_000)), Decision::Allow);
    assert_eq!(survives(&"eval ".repeat(13_000)), Decision::Deny);
    assert_eq!(survives(&format!("{};", "ls x ".repeat(12_000))), Decision::Allow);
}

#[test]
fn control_characters_in_a_script_are_refused() {
    for odd in ['\r', '\u{1}', '\u{7f}', '\u{b}', '\u{85}'] {
        assert_eq!(survives(&format!("ls; ls{odd}")), Decision::Deny, "{odd:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_judge_panic(line in any::<String>()) {
        survives(&line);
    }

    #[test]
    fn no_text_of_shell_characters_makes_the_judge_panic(line in "[ac$(){}\\[\\]<>|&;`'\"\\\\ \n!#*?~=0:,.@^%/é-]{0,40}") {
        survives(&line);
    }
}

/// A call of a program that is not listed, written in one of many ways.
fn forbidden() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "canary",
        "'canary'",
        "\"canary\"",
        "can''ary",
        "c\\anary",
        "$'\\x63anary'",
        "/tmp/ls",
        "./ls",
        "$x",
        "\"$x\"",
        "env canary",
        "A=1 canary",
        "eval ls",
        ". ./x",
        "exec canary",
        "command canary",
        "x=1 y=2 canary -v",
        "canary > /dev/null",
        "2>&1 canary",
    ])
    .prop_map(str::to_owned)
}

/// Scripts with one of these commands somewhere in them.
pub(crate) fn around(command: impl Strategy<Value = String> + 'static) -> impl Strategy<Value = String> {
    command.prop_recursive(6, 12, 1, |inner| {
        let around = prop::sample::select(vec![
            "ls; @",
            "@; ls",
            "ls && @",
            "ls || @",
            "@ | cat",
            "cat | @",
            "( @ )",
            "{ @; }",
            "! @",
            "@ &",
            "ls\n@",
            "if @; then ls; fi",
            "if ls; then @; fi",
            "if ls; then ls; else @; fi",
            "while @; do ls; done",
            "until ls; do @; done",
            "for x in 1; do @; done",
            "for x in $( @ ); do ls; done",
            "for ((i=0;i<1;i++)); do @; done",
            "case x in x) @;; esac",
            "case $( @ ) in x) ls;; esac",
            "echo $( @ )",
            "echo \"$( @ )\"",
            "echo a$( @ )b",
            "x=$( @ )",
            "x=$( @ ) ls",
            "a=(1 $( @ ))",
            "cat <( @ )",
            "ls > >( @ )",
            "cat < <( @ )",
            "cat <<E\n$( @ )\nE\n",
            "cat <<< \"$( @ )\"",
            "ls > $( @ )",
            "echo ${x:-$( @ )}",
            "echo \"${x:-$( @ )}\"",
            "[[ -n $( @ ) ]]",
            "f() { @; }; f",
            "f() ( @ )",
            "function f { @; }",
            "coproc { @; }",
            "time @",
            "echo ${x/$( @ )/y}",
            "echo ${x#$( @ )}",
            "echo \"$(echo \"$( @ )\")\"",
        ]);
        (around, inner).prop_map(|(around, inner)| around.replace('@', &inner))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn a_forbidden_call_is_found_wherever_it_stands(script in around(forbidden())) {
        let reading = read(&Work::Line(script)).unwrap();
        let verdict = policy("ls,cat,echo,env,command,exec,time,eval,.").judge(&reading, Path::new("/nowhere"));
        prop_assert_eq!(verdict.decision, Decision::Deny);
    }
}
