//! Requests that no process could be given.

use serde_json::{Value, json};

use crate::output::Server;
use crate::raw::server::{Answer, Raw};
use runward_testkit::mcp::Client as _;

/// Why a tool failed.
fn told_by(answer: &Value) -> String {
    let (is_error, text) = crate::output::told(answer);
    assert!(is_error, "{text}");
    text
}

fn refused(answer: Answer) -> String {
    assert_eq!(answer.status, 400);
    let body = answer.json();
    assert_eq!(body["error"]["code"], "bad_request", "{body}");
    body["error"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn an_order_that_cannot_be_sent_is_refused_to_its_caller_and_everybody_else_goes_on() {
    let raw = Raw::with(&[("ALLOWED_COMMANDS", "*"), ("RUNWARD_HTTP_MAX_BODY", "64MiB")]);
    let mut sleep = raw.run(&json!({"executable": "sleep", "args": ["600"]}));
    let session = sleep.start();
    let long = "x".repeat(120_000);
    let args = vec![long.clone(); 180];
    let env: serde_json::Map<String, Value> =
        (0..180).map(|at| (format!("V{at}"), long.clone().into())).collect();
    for body in [json!({"executable": "echo", "args": args}), json!({"executable": "echo", "env": env})] {
        let message = refused(raw.post("/raw", &body));
        assert!(message.contains("cannot be sent") && message.contains("16777216"), "{message}");
    }
    let message = refused(raw.post("/raw", &json!({"executable": "ls", "cwd": "/x".repeat(10_000_000)})));
    assert_eq!(message, "cwd has 20000000 bytes and at most 4095 can be given; nothing was run");
    let stopped = raw.send("DELETE", &format!("/raw/{session}"), &[], b"");
    assert_eq!(stopped.status, 200);
    let events = sleep.events();
    let end = events.last().unwrap();
    assert_eq!((&end["event"], &end["stopped"]), (&json!("exit"), &json!("cancelled")), "{end}");
}

#[test]
fn more_arguments_than_a_process_can_be_given_are_refused_at_every_door() {
    let many = vec![""; 4097];
    let long = "x".repeat(131_072);
    let raw = Raw::allowing("*");
    let mut mcp = Server::start(&[("ALLOWED_COMMANDS", "*")]);
    let cases = [
        (json!({"args": many}), "4096"),
        (json!({"args": ["a", long]}), "argument 2 has 131072 bytes and at most 131071 can be given"),
        (json!({"env": {"A": long}}), "variable 1 has 131074 bytes and at most 131071 can be given"),
    ];
    for (case, told) in cases {
        let with = |name: &str| {
            let mut body = case.clone();
            body[name] = json!("echo");
            body
        };
        for path in ["/raw", "/check"] {
            let message = refused(raw.post(path, &with("executable")));
            assert!(message.contains(told), "{path}: {message}");
        }
        if case.get("args").is_some() {
            for (tool, name) in [("execute_process", "file"), ("run_network_tool", "executable")] {
                // A list that is too long is no call at all; everything else is a call that fails.
                let answer = mcp.client.call(tool, with(name));
                let text =
                    answer["error"]["message"].as_str().map_or_else(|| told_by(&answer), str::to_owned);
                assert!(text.contains(told), "{tool}: {text}");
            }
        }
    }
    let (is_error, text) =
        mcp.call("execute_command", json!({"command": format!("echo {}", "a ".repeat(5000))}));
    assert!(is_error && text.contains("there are 5000 arguments and at most 4096"), "{text}");
    let (is_error, text) = mcp.call("shell", json!({"command": "true", "environment": {"A": long}}));
    assert!(is_error && text.contains("variable 1 has 131074 bytes"), "{text}");
}

#[test]
fn scripts_of_any_length_run_in_the_sandbox_and_under_a_list() {
    for (allowed, count) in [("*", 20_000), ("echo", 20_000), ("*", 300_000), ("echo", 60_000)] {
        let mut mcp = Server::start(&[("ALLOWED_COMMANDS", allowed)]);
        let long = "echo a > /dev/null\n".repeat(count / 20);
        let script = format!("x=1\n{long}: {}\necho \"$0 $# $x end\"", "y".repeat(count));
        for (tool, key) in [("execute_command", "command"), ("shell", "command"), ("exec_command", "cmd")] {
            let answer = mcp.client.call(tool, json!({ key: script }));
            let text = answer["result"]["content"].to_string();
            assert!(text.contains("bash 0 1 end"), "{allowed} {tool}: {}", text.get(..400).unwrap_or(&text));
        }
    }
}

#[test]
fn a_long_script_cannot_be_changed_by_what_it_runs() {
    let mut mcp = Server::start(&[("ALLOWED_COMMANDS", "*")]);
    let tail = "echo still\n".repeat(20_000);
    let script = format!("{{ echo 'echo changed' > /proc/self/fd/3; }} 2>&1\n{tail}");
    let (_, text) = mcp.call("execute_command", json!({ "command": script }));
    assert!(text.contains("still") && text.contains("Operation not permitted"), "{}", &text[..400]);
    assert!(!text.contains("\n  changed"), "{}", &text[..400]);
}

#[test]
fn what_is_not_allowed_in_a_long_script_is_refused_like_anywhere() {
    let mut mcp = Server::start(&[("ALLOWED_COMMANDS", "echo")]);
    let script = format!("{}whoami", "echo a > /dev/null\n".repeat(20_000));
    let (is_error, text) = mcp.call("execute_command", json!({ "command": script }));
    assert!(is_error && text.contains("command \"whoami\" is not allowed"), "{text}");
}
