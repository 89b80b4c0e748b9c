//! Runs that hang together.

use runward_testkit::eventually;
use runward_testkit::mcp::Client as _;
use serde_json::json;

use crate::output::{Server, output_id};
use crate::program::Program;

#[test]
fn the_output_of_a_run_is_the_input_of_another_whatever_its_size() {
    let mut server = Server::start(&[]);
    let (small, _) = server.run(json!({}), "echo one; echo two >&2");
    let (_, reply) = server.run(json!({"input_from": small}), "cat");
    assert!(reply.contains("stdout: |\n  one\n"), "{reply}");
    let (large, _) = server.run(json!({"timeout_ms": 60_000}), "seq 3000000");
    let (_, reply) = server.run(json!({"input_from": large, "timeout_ms": 60_000}), "tail -n 1 | cat; wc -c");
    assert!(reply.contains("3000000"), "{reply}");
    let (_, reply) = server.run(json!({"input_from": large, "timeout_ms": 60_000}), "wc -c");
    assert!(reply.contains("22888896"), "{reply}");
}

#[test]
fn two_inputs_and_unknown_runs_are_refused_by_name() {
    let mut server = Server::start(&[]);
    let (is_error, text) =
        server.call("execute_command", json!({"command": "cat", "input": "x", "input_from": "a1"}));
    assert_eq!(
        (is_error, text.as_str()),
        (true, "input and input_from exclude each other; give one of them")
    );
    let (is_error, text) = server.call("execute_command", json!({"command": "cat", "input_from": "a1"}));
    assert!(is_error && text.starts_with("input_from names a1: no such output"), "{text}");
    let wrong = json!({"command": "cat", "only_if": {"output_id": "a1"}});
    let (is_error, text) = server.call("execute_command", wrong);
    assert!(is_error && text.starts_with("only_if must be an object with output_id"), "{text}");
}

#[test]
fn a_part_of_an_output_is_never_passed_for_the_whole() {
    let limits = [("RUNWARD_OUTPUT_QUOTA", "1MiB"), ("RUNWARD_LIMITS_OUTPUT", "1KiB")];
    let mut server = Server::start(&limits);
    let (id, _) = server.run(json!({}), "head -c 2000000 /dev/zero");
    let (is_error, text) = server.call("execute_command", json!({"command": "cat", "input_from": id}));
    assert!(is_error && text.contains("951424 bytes of its stdout were not kept"), "{text}");
}

#[test]
fn a_run_whose_condition_does_not_hold_is_skipped_and_that_is_no_error() {
    let mut server = Server::start(&[]);
    let (id, _) = server.run(json!({}), "exit 3");
    let holds = |code: i32| json!({"command": "echo ran", "only_if": {"output_id": id, "exit_code": code}});
    let (is_error, text) = server.call("execute_command", holds(0));
    assert!(!is_error && text.starts_with("skipped: ") && text.contains("exit code 3"), "{text}");
    let (is_error, text) = server.call("execute_command", holds(3));
    assert!(!is_error && text.contains("ran"), "{text}");
    let mut process = holds(0);
    process.as_object_mut().unwrap().remove("command");
    process["file"] = json!("echo");
    assert!(server.call("execute_process", process).1.starts_with("skipped: "));
    let (is_error, text) = server.call("shell", holds(0));
    assert!(!is_error && text.starts_with("skipped: "), "{text}");
}

#[test]
fn a_failure_that_aborts_stops_everything_until_somebody_resumes() {
    let mut server = Server::start(&[]);
    let abort = json!({"abort_on_failure": true});
    server.run(abort.clone(), "true");
    server.run(json!({}), "false");
    let (_, text) = server.call("execute_command", json!({"command": "exit 7", "abort_on_failure": true}));
    assert!(text.starts_with("exit_code: 7\n"), "{text}");
    for (tool, arguments) in [("shell", json!({"command": "ls"})), ("execute_process", json!({"file": "ls"}))]
    {
        let (is_error, text) = server.call(tool, arguments);
        assert!(is_error && text.contains("`exit 7` failed with exit code 7"), "{text}");
        assert!(text.contains("runward resume"), "{text}");
    }
    let resume = || Program::new(&["resume"]).env("XDG_STATE_HOME", server.state.path()).run();
    assert_eq!(resume().stdout, "resumed after: `exit 7` failed with exit code 7\n");
    assert_eq!(resume().stdout, "nothing was stopped\n");
    let (_, text) = server.call("execute_command", json!({"command": "echo on"}));
    output_id(&text);
}

#[test]
fn a_refused_run_and_one_that_times_out_abort_too() {
    let mut server = Server::start(&[]);
    let missing = json!({"file": "no-such-program", "abort_on_failure": true});
    assert!(server.call("execute_process", missing).0);
    let (is_error, text) = server.call("execute_process", json!({"file": "ls"}));
    assert!(is_error && text.contains("`no-such-program` was refused: program not found"), "{text}");
    std::fs::remove_file(server.state.path().join("runward/abort")).unwrap();
    let slow = json!({"file": "sleep", "args": ["60"], "timeout_ms": 50, "abort_on_failure": true});
    server.call("execute_process", slow);
    let (is_error, text) = server.call("execute_process", json!({"file": "ls"}));
    assert!(is_error && text.contains("Timed out after 50ms"), "{text}");
}

#[test]
fn the_same_key_is_the_same_run_and_says_so() {
    let mut server = Server::start(&[]);
    let directory = tempfile::tempdir().unwrap();
    let line = format!("echo once >> {0}; wc -l < {0}", directory.path().join("log").display());
    let arguments = json!({"command": line, "request_key": "push-1"});
    let first = server.client.call("execute_command", arguments.clone());
    let second = server.client.call("execute_command", arguments.clone());
    assert_eq!(first["result"]["content"][0], second["result"]["content"][0]);
    assert!(first["result"]["content"][1].is_null());
    let note = second["result"]["content"][1]["text"].as_str().unwrap();
    assert!(note.starts_with("attached: true"), "{note}");
    let (is_error, text) =
        server.call("execute_command", json!({"command": "echo other", "request_key": "push-1"}));
    assert!(is_error && text.contains("stands for another request"), "{text}");
    let mut other = arguments;
    other["request_key"] = json!("push-2");
    assert!(server.call("execute_command", other).1.contains("stdout: |\n  2\n"));
}

#[test]
fn a_call_with_the_key_of_a_running_one_waits_for_that() {
    let mut server = Server::start(&[]);
    let directory = tempfile::tempdir().unwrap();
    let (log, go) = (directory.path().join("log"), directory.path().join("go"));
    let line = format!(
        "echo once >> {0}; until [ -e {1} ]; do sleep 0.01; done; wc -l < {0}",
        log.display(),
        go.display()
    );
    let call = json!({"name": "execute_command", "arguments": {"command": line, "request_key": "k"}});
    let calls = [(), ()].map(|()| server.client.begin("tools/call", call.clone()));
    eventually("the command has begun", || log.exists());
    std::fs::write(&go, "").unwrap();
    for call in calls {
        assert!(crate::output::told(&server.client.answer(call)).1.contains("stdout: |\n  1\n"));
    }
}

#[test]
fn a_refused_run_can_be_asked_for_again_by_the_same_key() {
    let mut server = Server::start(&[]);
    let directory = tempfile::tempdir().unwrap();
    let cwd = directory.path().join("later");
    let arguments = json!({"command": "pwd", "cwd": cwd, "request_key": "k"});
    assert!(server.call("execute_command", arguments.clone()).0);
    std::fs::create_dir(&cwd).unwrap();
    assert!(!server.call("execute_command", arguments).0);
}
