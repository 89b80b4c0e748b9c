//! `runward policy test`.

use serde_json::Value;

use crate::program::{Ended, Program};

fn test(allowed: &str, args: &[&str]) -> Ended {
    Program::new(&[&["policy", "test"], args].concat()).env("ALLOWED_COMMANDS", allowed).run()
}

#[test]
fn rules_that_let_nothing_through_exit_with_0_and_say_how_much_was_tried() {
    let ended = test("ls,cat", &[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    let number =
        ended.stdout.strip_prefix("All ").and_then(|rest| rest.strip_suffix(" attacks are refused.\n"));
    assert!(number.unwrap().parse::<usize>().unwrap() >= 150, "{ended:?}");
}

#[test]
fn an_attack_that_gets_through_is_shown_in_its_group_with_the_reason() {
    let ended = test("ls,bash", &[]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let shown = "shells that run the text they are given\n  bash -c 'canary'\n      ";
    assert!(ended.stdout.contains(shown), "{}", ended.stdout);
    assert!(ended.stdout.contains("bash is an interpreter: whatever it is given runs"), "{}", ended.stdout);
    assert!(ended.stdout.ends_with(" attacks would get through.\n"), "{}", ended.stdout);
}

#[test]
fn for_programs_the_answer_is_json() {
    let answer: Value = serde_json::from_str(&test("tar", &["--json"]).stdout).unwrap();
    let through = answer["through"].as_array().unwrap();
    assert_eq!(
        answer["attacks"].as_u64().unwrap(),
        answer["refused"].as_u64().unwrap() + through.len() as u64
    );
    assert_eq!(through[0]["group"], "options that name another program");
    assert_eq!(
        (&through[0]["reason"], &through[0]["rule"]),
        (
            &"allowed by tar; tar can start other programs by its own means".into(),
            &"tar (ALLOWED_COMMANDS)".into()
        )
    );
}

#[test]
fn where_everything_is_allowed_it_says_so_plainly() {
    let ended = test("*", &[]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let note = "Note: * allows every command and nothing is blocked, so there is nothing to get around.\n";
    assert!(ended.stdout.starts_with(note) && ended.stdout.lines().count() == 3, "{}", ended.stdout);
}

#[test]
fn blocked_commands_are_tried_too() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rules.toml");
    std::fs::write(&file, "[shell_tool]\nallowed_commands = [\"*\"]\nblocked_commands = [\"rm -rf\"]\n")
        .unwrap();
    let ended = Program::new(&["policy", "test", "--config", file.to_str().unwrap()]).run();
    assert_eq!(ended.code, 0, "{ended:?}");
    let said = ended.stdout.trim_end();
    assert!(said.starts_with("All "), "{said}");
    assert!(said.ends_with(" attacks (a blocked command among their targets) are refused."), "{said}");
}

#[test]
fn nothing_is_allowed_unless_something_is_said() {
    let ended = Program::new(&["policy", "test"]).run();
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.starts_with("Note: no command is allowed"), "{}", ended.stdout);
}
