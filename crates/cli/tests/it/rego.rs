//! Rules in Rego, through the real program.

mod held;
mod reload;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use runward_testkit::mcp::{Client, Era, StdioClient};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::output::told;
use crate::program::{Ended, Program};

/// A set of one file.
fn set(rules: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("main.rego"), format!("package sandbox.main\n{rules}\n")).unwrap();
    directory
}

fn server(policy: &Path, variables: &[(&str, &str)]) -> StdioClient {
    let program = Program::new(&["stdio"]).env("POLICY_DIR", policy);
    let program = variables.iter().fold(program, |program, (name, value)| program.env(name, value));
    StdioClient::start(program.into_command(), Era::Modern)
}

/// Whether a line was refused, and what was said.
fn run(server: &mut StdioClient, line: &str) -> (bool, String) {
    told(&server.call("execute_command", json!({ "command": line })))
}

fn check(policy: &Path, args: &[&str]) -> Ended {
    Program::new(&[&["check"], args].concat()).env("POLICY_DIR", policy).run()
}

fn health(address: &str) -> Value {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

const ECHO: &str = "allow if input.command == \"echo\"\nreason := \"only echo\"";

#[test]
fn the_rules_decide_for_every_door() {
    let directory = set(ECHO);
    let mut server = server(directory.path(), &[]);
    for (tool, name) in [
        ("execute_command", "command"),
        ("shell", "command"),
        ("execute_process", "file"),
        ("exec_command", "cmd"),
    ] {
        let (refused, text) = told(&server.call(tool, json!({ name: "whoami" })));
        assert!(refused && text.contains("denied by the policy: only echo"), "{tool}: {text}");
        let (refused, text) = told(&server.call(tool, json!({ name: "echo" })));
        assert!(!refused, "{tool}: {text}");
    }
}

#[test]
fn every_command_of_a_script_is_judged_on_its_own() {
    let directory = set(ECHO);
    let mut server = server(directory.path(), &[]);
    assert!(run(&mut server, "echo one; echo two | echo three").1.contains("three"));
    for line in
        ["echo one; whoami", "echo $(whoami)", "env whoami", "sh -c whoami", "echo $HOME", "> /dev/null"]
    {
        let (refused, text) = run(&mut server, line);
        assert!(refused, "{line}: {text}");
    }
}

#[test]
fn the_rules_know_the_door_the_variables_and_the_directory() {
    let directory = set(
        "allow if { input.door == \"shell\"; input.env == {\"COLOUR\": \"red\"}; input.cwd == \"/usr\"; not input.tty }\n\
         reason := sprintf(\"%v\", [input])",
    );
    let mut server = server(directory.path(), &[]);
    let asked = |colour: &str, cwd: &str| json!({"command": "pwd", "environment": {"COLOUR": colour}, "working_directory": cwd});
    let (refused, text) = told(&server.call("shell", asked("red", "/usr")));
    assert!(!refused, "{text}");
    assert!(told(&server.call("shell", asked("blue", "/usr"))).0);
    assert!(told(&server.call("shell", asked("red", "/etc"))).0);
    assert!(run(&mut server, "pwd").0);
}

#[test]
fn the_other_layers_can_only_allow_less() {
    let directory = set("allow if input.command in {\"echo\", \"true\", \"ls\"}");
    let narrow = [("ALLOWED_COMMANDS", "echo,ls,whoami"), ("RUNWARD_SHELL_TOOL_BLOCKED_COMMANDS", "ls -a")];
    let mut server = server(directory.path(), &narrow);
    assert!(!run(&mut server, "echo hello").0);
    for line in ["true", "whoami", "ls -a", "ls --all /"] {
        assert!(run(&mut server, line).0, "{line}");
    }
    let mut empty = self::server(directory.path(), &[("ALLOWED_COMMANDS", "")]);
    assert!(run(&mut empty, "echo hello").0, "an empty list allows nothing");
}

#[test]
fn with_neither_rules_nor_list_the_message_says_how_to_begin() {
    let ended = Program::new(&["check", "--", "ls"]).run();
    assert_eq!(ended.code, 1);
    for way in ["ALLOWED_COMMANDS to names such as ls,cat", "POLICY_DIR to a directory of rules in Rego"] {
        assert!(ended.stdout.contains(way), "{ended:?}");
    }
}

#[test]
fn what_the_rules_have_a_person_asked_about_does_not_run_unasked() {
    let directory = set("allow := true\nask := \"touches files\" if input.command == \"touch\"");
    let mut server = server(directory.path(), &[("RUNWARD_APPROVAL_POLICY", "never")]);
    assert!(!run(&mut server, "echo hello").0);
    let (refused, text) = run(&mut server, "touch x");
    assert!(refused && text.contains("touches files"), "{text}");
    let ended = check(directory.path(), &["--json", "--", "touch x"]);
    let verdict: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(verdict["decision"], "ask");
}

#[test]
fn check_shows_the_input_the_definition_that_held_and_where_the_others_ended() {
    let directory = set(
        "default allow := false\nallow if {\n  input.command == \"git\"\n  input.args[0] == \"log\"\n}\n\
                         allow if input.command == \"echo\"",
    );
    let ended = check(directory.path(), &["--", "git push; echo hi"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let file = directory.path().join("main.rego").display().to_string();
    for told in [
        r#"trace    input: {"args":["push"],"#,
        r#""command":"git""#,
        r#""shell":[["git","push"],["echo","hi"]]"#,
        &format!("{file}:2: default allow := false\n               holds unless another does\n"),
        &format!("{file}:3: allow if {{\n               does not hold: line 5: input.args[0] == \"log\"\n"),
        &format!("{file}:7: allow if input.command == \"echo\"\n               holds\n"),
    ] {
        assert!(ended.stdout.contains(told), "{told}\n{}", ended.stdout);
    }
    let json: Value =
        serde_json::from_str(&check(directory.path(), &["--json", "--", "echo"]).stdout).unwrap();
    assert_eq!(json["trace"][0]["definitions"][2]["outcome"], "held");
    assert_eq!(json["trace"][0]["input"]["hash"].as_str().unwrap().len(), 64);
}

#[test]
fn a_relative_directory_is_the_one_where_the_server_was_started() {
    let directory = set(ECHO);
    let ended =
        Program::new(&["check", "--", "echo"]).env("POLICY_DIR", ".").current_dir(directory.path()).run();
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[test]
fn rules_that_take_for_ever_hold_up_nobody_else() {
    let directory = set("allow if input.command == \"echo\"\n\
         allow if { input.command == \"true\"; some x in numbers.range(1, 5000); some y in numbers.range(1, 5000); x * y < 0 }");
    let mut server = server(directory.path(), &[]);
    let ask = |line: &str| json!({"name": "execute_command", "arguments": {"command": line}});
    let slow = server.begin("tools/call", ask("true"));
    let quick = server.begin("tools/call", ask("echo hello"));
    let first = server.receive().unwrap();
    assert_eq!((&first["id"], told(&first).0), (&json!(quick), false), "{first}");
    let (refused, text) = told(&server.answer(slow));
    assert!(refused && text.contains("the policy takes more than 1000000 steps"), "{text}");
}
