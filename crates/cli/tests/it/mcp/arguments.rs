//! Wrong arguments, one by one: a result that a model can learn from, never a protocol error.

use runward_testkit::mcp::Client;
use serde_json::{Value, json};

use super::{everywhere, lives, stdio};
use crate::program::Program;
use crate::reply::Reply;

#[track_caller]
fn refusal(client: &mut dyn Client, tool: &str, arguments: &Value) -> String {
    Reply::read(&client.call(tool, arguments.clone())).refusal().to_owned()
}

#[test]
fn a_timeout_out_of_bounds_or_of_another_type_is_refused_by_name() {
    let mut client = stdio();
    let odd =
        ["0", "-1", "1.5", "\"30\"", "null", "600001", "true", "[]", "{}", "1e300", "18446744073709551616"];
    for (tool, mut arguments) in
        [("execute_command", json!({ "command": "x" })), ("execute_process", json!({ "file": "x" }))]
    {
        for wrong in odd {
            arguments["timeout_ms"] = serde_json::from_str(wrong).unwrap();
            let reason = refusal(&mut client, tool, &arguments);
            let expected = "timeout_ms must be an integer from 1 to 600000, got ";
            assert!(reason.starts_with(expected), "{wrong}: {reason}");
        }
    }
    lives(&mut client);
}

#[test]
fn an_argument_that_is_missing_of_another_type_or_unknown_is_refused_by_name() {
    let mut client = stdio();
    let wrong = [
        ("execute_command", json!({}), "command is required"),
        ("execute_command", json!({ "command": null }), "command must be a string"),
        ("execute_command", json!({ "command": ["ls"] }), "command must be a string"),
        ("execute_command", json!({ "command": "" }), "command must be a string that is not empty"),
        ("execute_command", json!({ "command": "x", "cwd": 1 }), "cwd must be a string"),
        ("execute_command", json!({ "command": "x", "input": {} }), "input must be a string"),
        ("execute_command", json!({ "command": "x", "args": [] }), "unknown argument \"args\""),
        ("execute_process", json!({ "args": [] }), "file is required"),
        ("execute_process", json!({ "file": 7 }), "file must be a string"),
        ("execute_process", json!({ "file": "x", "args": "y" }), "args must be an array of strings"),
        ("execute_process", json!({ "file": "x", "args": ["y", 1] }), "args must be an array of strings"),
        ("execute_process", json!({ "file": "x", "args": [null] }), "args must be an array of strings"),
        ("execute_process", json!({ "file": "x", "argv": [] }), "unknown argument \"argv\""),
    ];
    for (tool, arguments, expected) in wrong {
        let reason = refusal(&mut client, tool, &arguments);
        assert!(reason.starts_with(expected), "{arguments}: {reason}");
    }
    lives(&mut client);
}

#[test]
fn wrong_arguments_are_told_alike_through_every_door() {
    for mut client in everywhere(Program::new) {
        let reason = refusal(client.as_mut(), "execute_process", &json!({ "file": "x", "timeout_ms": 0 }));
        assert_eq!(reason, "timeout_ms must be an integer from 1 to 600000, got 0");
    }
}

#[test]
fn arguments_may_be_left_out_altogether_and_are_then_missing() {
    for mut client in everywhere(Program::new) {
        let answer = client.ask("tools/call", json!({ "name": "execute_command" }));
        assert!(Reply::read(&answer).refusal().starts_with("command is required"), "{answer}");
    }
}
