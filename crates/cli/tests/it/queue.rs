//! More calls than there is room for.

use runward_testkit::eventually;
use runward_testkit::mcp::Client as _;
use serde_json::{Value, json};

use crate::output::{Server, told};

/// A server with room for one command, one that is running there, and the file that lets it end.
fn full(wait: &str) -> (Server, u64, tempfile::TempDir) {
    let mut server = Server::start(&[
        ("RUNWARD_LIMITS_SESSIONS", "1"),
        ("RUNWARD_LIMITS_QUEUE_WAIT", wait),
        ("RUNWARD_SANDBOX_PROFILE", "full-access"),
    ]);
    let directory = tempfile::tempdir().unwrap();
    let (here, go) = (directory.path().join("here"), directory.path().join("go"));
    let line =
        format!("touch {}; until [ -e {} ]; do sleep 0.01; done; echo first", here.display(), go.display());
    let first = begin(&mut server, &line);
    eventually("the first runs", || here.exists());
    (server, first, directory)
}

fn begin(server: &mut Server, line: &str) -> u64 {
    let call = json!({ "name": "execute_command", "arguments": { "command": line } });
    server.client.begin("tools/call", call)
}

fn text(answer: &Value) -> String {
    told(answer).1
}

#[test]
fn a_call_beyond_the_limit_waits_for_its_turn() {
    let (mut server, first, directory) = full("2m");
    let waiting = ["second", "third"].map(|name| begin(&mut server, &format!("echo {name}")));
    std::fs::write(directory.path().join("go"), "").unwrap();
    assert!(text(&server.client.answer(first)).contains("first"));
    for (call, name) in waiting.into_iter().zip(["second", "third"]) {
        let answer = text(&server.client.answer(call));
        assert!(answer.starts_with("exit_code: 0\n") && answer.contains(name), "{answer}");
    }
}

#[test]
fn a_call_whose_turn_does_not_come_is_refused_and_told_how_long_it_waited() {
    for (wait, told) in [
        ("0ms", "1 commands are running already; nothing was run"),
        ("50ms", "1 commands are running already, and the turn of this one did not come within 50 ms"),
    ] {
        let (mut server, first, directory) = full(wait);
        let call = begin(&mut server, "echo second");
        let answer = server.client.answer(call);
        assert!(answer["result"]["isError"] == true && text(&answer).contains(told), "{answer}");
        std::fs::write(directory.path().join("go"), "").unwrap();
        assert!(text(&server.client.answer(first)).contains("first"));
        let call = begin(&mut server, "echo third");
        assert!(text(&server.client.answer(call)).contains("third"), "there is room again");
    }
}

#[test]
fn a_call_that_is_cancelled_while_it_waits_never_runs() {
    let (mut server, first, directory) = full("2m");
    let ran = directory.path().join("ran");
    let waiting = begin(&mut server, &format!("touch {}", ran.display()));
    server.client.cancel(waiting);
    std::fs::write(directory.path().join("go"), "").unwrap();
    assert!(text(&server.client.answer(first)).contains("first"));
    let call = begin(&mut server, "echo third");
    assert!(text(&server.client.answer(call)).contains("third"));
    assert!(!ran.exists());
}

#[test]
fn calls_that_wait_do_not_keep_a_server_from_stopping() {
    let (mut server, _, _directory) = full("5m");
    for _ in 0..3 {
        begin(&mut server, "echo never");
    }
    server.client.close_input();
    server.client.server().ended();
}

#[test]
fn a_failure_that_stops_everything_stops_what_waits() {
    let (mut server, first, directory) = full("2m");
    let failing = json!({ "command": "false", "abort_on_failure": true });
    let failing =
        server.client.begin("tools/call", json!({ "name": "execute_command", "arguments": failing }));
    let ran = directory.path().join("ran");
    let waiting = begin(&mut server, &format!("touch {}", ran.display()));
    std::fs::write(directory.path().join("go"), "").unwrap();
    server.client.answer(first);
    server.client.answer(failing);
    let answer = server.client.answer(waiting);
    assert!(text(&answer).contains("everything is stopped"), "{answer}");
    assert!(!ran.exists());
}
