//! `runward check`.

use serde_json::Value;

use crate::program::{Ended, Program};

fn check(allowed: &str, args: &[&str]) -> Ended {
    Program::new(&[&["check"], args].concat()).env("ALLOWED_COMMANDS", allowed).run()
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn an_allowed_line_exits_with_0_and_shows_each_command_with_its_program() {
    let ended = check("ls,cat", &["--", "ls -l | cat"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.starts_with("allowed: "), "{ended:?}");
    assert!(ended.stdout.contains("allowed  ls -l\n"), "{ended:?}");
    assert!(ended.stdout.contains("program: /usr/bin/cat\n"), "{ended:?}");
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_denied_command_exits_with_1_and_says_what_would_allow_it() {
    let ended = check("ls,cat", &["--", "whoami"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let reason =
        "command \"whoami\" is not allowed; allowed commands: ls, cat (set ALLOWED_COMMANDS to change this)";
    assert!(ended.stdout.starts_with(&format!("denied: {reason}\n")), "{ended:?}");
}

#[test]
fn one_denied_command_denies_the_line_and_the_others_are_shown_all_the_same() {
    let ended = check("ls", &["--json", "--", "ls | cat"]);
    let verdict = json(&ended);
    assert_eq!((ended.code, &verdict["decision"]), (1, &"deny".into()), "{ended:?}");
    let commands = verdict["commands"].as_array().unwrap();
    let decisions: Vec<_> = commands.iter().map(|command| command["decision"].as_str().unwrap()).collect();
    assert_eq!(decisions, ["allow", "deny"], "{ended:?}");
    assert_eq!(commands[0]["program"], "/usr/bin/ls");
}

#[test]
fn several_arguments_are_a_program_and_its_arguments_not_a_line() {
    let ended = check("ls", &["--json", "--", "ls", "|", "cat"]);
    let verdict = json(&ended);
    assert_eq!((ended.code, &verdict["decision"]), (0, &"allow".into()), "{ended:?}");
    assert_eq!(verdict["commands"][0]["words"], serde_json::json!(["ls", "|", "cat"]));
}

#[test]
fn nothing_is_allowed_unless_something_is_said() {
    let ended = Program::new(&["check", "--", "ls"]).run();
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stdout.contains("ALLOWED_COMMANDS"), "{ended:?}");
}

#[test]
fn nothing_is_executed() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace");
    let ended = check("*", &["--", &format!("touch {0}; echo > {0}", trace.display())]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!trace.exists());
}

#[test]
fn a_directory_that_is_missing_is_a_denial_with_its_reason() {
    let ended = check("ls", &["--cwd", "/no/such/place", "--", "ls"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, "denied: cwd does not exist: /no/such/place\n"));
    let verdict = json(&check("ls", &["--json", "--cwd", "/no/such/place", "--", "ls"]));
    assert_eq!(verdict["reason"], "cwd does not exist: /no/such/place");
    assert_eq!(verdict["decision"], "deny");
}

#[test]
fn a_directory_outside_the_roots_is_a_denial() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let at = |directory: &tempfile::TempDir| {
        let path = directory.path().to_str().unwrap();
        let program = Program::new(&["check", "--cwd", path, "--", "ls"]).env("ALLOWED_COMMANDS", "ls");
        program.env("ALLOWED_CWD_ROOTS", root.path()).run()
    };
    assert_eq!(at(&root).code, 0);
    let ended = at(&outside);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stdout.starts_with("denied: cwd is not allowed by ALLOWED_CWD_ROOTS: "), "{ended:?}");
}

#[test]
fn a_program_that_is_nowhere_is_a_denial_that_says_so() {
    let ended = check("*", &["--", "no-such-program-here"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stdout.starts_with("denied: program not found: no-such-program-here"), "{ended:?}");
}

#[test]
fn an_empty_line_is_a_denial() {
    let ended = check("*", &["--", " "]);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (1, "denied: command is empty; give a program and its arguments\n")
    );
}

#[test]
fn without_a_command_or_its_dashes_the_usage_is_shown() {
    for args in [&["check"][..], &["check", "ls"], &["check", "--"]] {
        let ended = Program::new(args).run();
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains("runward check [OPTIONS] -- 'COMMAND LINE'"), "{ended:?}");
    }
}

#[test]
fn a_denial_names_the_command_the_rule_its_place_and_the_narrowest_rule_that_would_allow_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rules.toml");
    let rules =
        "[policy]\nallowed_commands = [\"ls\", \"rm\"]\n[shell_tool]\nblocked_commands = [\"rm -rf\"]\n";
    std::fs::write(&file, rules).unwrap();
    let name = file.to_str().unwrap();
    let ask = |args: &[&str]| Program::new(&[&["check", "--config", name], args].concat()).run();

    let blocked = ask(&["--", "ls | rm -fr x"]);
    let rule = format!("blocked_commands \"rm -rf\" ({name}:4)");
    assert_eq!(blocked.code, 1);
    assert!(blocked.stdout.contains(&format!("\nrule: {rule}\n")), "{}", blocked.stdout);
    assert!(blocked.stdout.contains(&format!("rule: ls ({name}:2)\n")), "{}", blocked.stdout);
    let verdict = json(&ask(&["--json", "--", "ls | rm -fr x"]));
    assert_eq!((&verdict["rule"], &verdict["suggest"]), (&rule.as_str().into(), &Value::Null));
    assert_eq!(verdict["commands"][1]["rule"], rule.as_str());

    let suggested = json(&ask(&["--json", "--", "ls; cat -n \"$x\"; printf 'a\"\\b' | wc -l"]));
    let suggest = suggested["suggest"].as_str().unwrap();
    std::fs::write(&file, format!("{rules}\n{suggest}\n")).unwrap();
    let line = "ls; cat -n \"$x\"; printf 'a\"\\b' | wc -l";
    assert_eq!(ask(&["--", line]).code, 0, "{suggest}");
    assert_eq!(ask(&["--", "cat x"]).code, 1, "the rule is no wider than the command");
}

#[test]
fn a_script_does_not_go_through_a_link_that_a_command_could_turn() {
    let workspace = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/usr/bin", workspace.path().join("bin")).unwrap();
    let tool = workspace.path().join("bin/ls").display().to_string();
    let ended = check("/usr/bin/ls", &["--", &format!("true && {tool}")]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(
        ended.stdout.contains("bin, a link that a command could turn before it is followed"),
        "{ended:?}"
    );
    let ended = check("/usr/bin/ls,true", &["--", "true && /bin/ls"]);
    assert_eq!(ended.code, 0, "the system's own links are turned by nobody: {ended:?}");
}
