//! Commands that outlive the patience of their callers.

use runward_testkit::Marker;
use runward_testkit::eventually;
use runward_testkit::mcp::{Client as _, Era, HttpClient};
use serde_json::json;

use crate::output::{Server, output_id};
use crate::program::Program;

fn session_id(reply: &str) -> u64 {
    reply.lines().find_map(|line| line.strip_prefix("session_id: ")).unwrap().parse().unwrap()
}

#[test]
fn a_command_that_takes_longer_goes_on_and_nothing_is_lost() {
    let mut server = Server::start(&[("RUNWARD_MCP_PATIENCE", "1s")]);
    let directory = tempfile::tempdir().unwrap();
    let go = directory.path().join("go");
    let line = format!("echo before; until [ -e {} ]; do sleep 0.01; done; echo after; exit 4", go.display());
    for tool in ["execute_command", "shell"] {
        let answer = server.client.call(tool, json!({"command": line}));
        let (is_error, text) = crate::output::told(&answer);
        assert!(!is_error && text.starts_with("note: still running after 1 s"), "{text}");
        assert_eq!(answer["result"]["structuredContent"]["session_id"], session_id(&text));
        assert!(text.contains("\nstdout: |\n  before\nstderr: ''\n"), "{text}");
        assert_eq!(answer["result"]["structuredContent"]["stdout"], "before\n");
        let id = output_id(&text);
        let (_, text) = server.read(&id, json!({}));
        assert!(text.contains("still running") && text.ends_with("     1\tbefore\n"), "{text}");
        std::fs::write(&go, "").unwrap();
        let (_, text) = server.read(&id, json!({"wait_ms": 20_000}));
        assert!(text.contains("ended, exit_code 4") && text.ends_with("     2\tafter\n"), "{text}");
        std::fs::remove_file(&go).unwrap();
    }
}

#[test]
fn what_goes_on_can_be_ended_and_is_ended_with_the_server() {
    let mut server = Server::start(&[("RUNWARD_MCP_PATIENCE", "1s")]);
    let marker = Marker::new();
    let puppet = runward_testkit::puppet();
    let arguments = json!({"file": puppet, "args": ["linger", marker.as_str(), "plain"]});
    let (_, text) = server.call("execute_process", arguments.clone());
    let (is_error, text) = server.call("kill_session", json!({"session_id": session_id(&text)}));
    assert!(!is_error && text.contains("has ended, exit_code 143"), "{text}");
    assert!(marker.carriers().is_empty());
    let (is_error, text) = server.call("kill_session", json!({"session_id": 999_999}));
    assert!(is_error && text.contains("there is no session 999999"), "{text}");
    server.call("execute_process", arguments);
    assert_eq!(marker.carriers().len(), 1);
    server.client.close_input();
    server.client.server().ended();
    eventually("the command has ended with the server", || marker.carriers().is_empty());
}

#[test]
fn over_http_a_run_with_a_key_outlives_its_connection_and_a_retry_attaches_to_it() {
    let state = tempfile::tempdir().unwrap();
    let program = Program::new(&[]).env("ALLOWED_COMMANDS", "*").env("XDG_STATE_HOME", state.path());
    let mut client = HttpClient::start(program.into_command(), Era::Modern);
    let (log, go) = (state.path().join("log"), state.path().join("go"));
    let line = format!(
        "echo once >> {0}; until [ -e {1} ]; do sleep 0.01; done; wc -l < {0}",
        log.display(),
        go.display()
    );
    let arguments = json!({"command": line, "request_key": "5e2f0d1c-77aa-4c1b-9d1e-2b8f3a6c4d90"});
    let call = json!({"name": "execute_command", "arguments": arguments});
    let left = client.begin("tools/call", call);
    eventually("the command has begun", || log.exists());
    client.vanish(left);
    std::fs::write(&go, "").unwrap();
    let answer = client.call("execute_command", arguments);
    let (_, text) = crate::output::told(&answer);
    assert!(text.contains("stdout: |\n  1\n"), "{text}");
    assert!(answer["result"]["content"][1]["text"].as_str().unwrap().starts_with("attached: true"));
}

#[test]
fn over_http_what_goes_on_outlives_its_call() {
    let state = tempfile::tempdir().unwrap();
    let program = Program::new(&[]).env("ALLOWED_COMMANDS", "*").env("XDG_STATE_HOME", state.path());
    let program = program.env("RUNWARD_MCP_PATIENCE", "1s");
    let mut client = HttpClient::start(program.into_command(), Era::Legacy);
    let go = state.path().join("go");
    let line = format!("until [ -e {} ]; do sleep 0.01; done; echo after", go.display());
    let (_, text) = crate::output::told(&client.call("execute_command", json!({"command": line})));
    let id = output_id(&text);
    std::fs::write(&go, "").unwrap();
    let read = client.call("read_output", json!({"output_id": id, "wait_ms": 20_000}));
    let (_, text) = crate::output::told(&read);
    assert!(text.contains("ended, exit_code 0") && text.ends_with("     1\tafter\n"), "{text}");
}
