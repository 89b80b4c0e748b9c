//! Which sessions are kept, and what is lost: nothing.

use serde_json::{Value, json};

use super::{Reply, client, client_with, exec, to_the_end, write};
use crate::program::Program;
use runward_testkit::mcp::{Client, Era, HttpClient, StdioClient};
use runward_testkit::{eventually, skipped};

fn sessions(client: &mut dyn Client) -> Vec<Value> {
    let listed = Reply::of(&client.call("list_sessions", json!({})));
    listed.field("sessions").as_array().unwrap().clone()
}

/// A call that is taken back after its command has printed; what comes after that is there for the next call.
fn take_back(client: &mut dyn Client, how: fn(&mut dyn Client, u64)) {
    let arguments = json!({ "cmd": "echo before; read x; echo after", "stdin": "pipe", "login": false, "yield_time_ms": 30000 });
    let id = client.begin("tools/call", json!({ "name": "exec_command", "arguments": arguments }));
    eventually("it has printed", || {
        sessions(client).first().is_some_and(|session| session["unread_bytes"] == json!(7))
    });
    how(client, id);
    let listed = sessions(client);
    assert_eq!(listed.len(), 1, "{listed:?}");
    let end = json!({ "session_id": listed[0]["session_id"], "chars": "go\n", "yield_time_ms": 20000 });
    let end = write(client, end);
    assert_eq!((end.output(), end.exit_code()), ("before\nafter\n", 0));
}

/// With a token: without one and without sessions of the protocol, nothing tells a client that comes back from others.
fn over_http(era: Era) -> HttpClient {
    let program = Program::new(&[]).env("ALLOWED_COMMANDS", "*").env("RUNWARD_TOKEN", "s3cret");
    HttpClient::start_with_token(program.into_command(), era, "s3cret")
}

#[test]
fn a_cancelled_call_loses_nothing() {
    for era in [Era::Legacy, Era::Modern] {
        let program = Program::new(&["stdio"]).env("ALLOWED_COMMANDS", "*");
        take_back(&mut StdioClient::start(program.into_command(), era), |client, id| client.cancel(id));
        take_back(&mut over_http(era), |client, id| client.cancel(id));
    }
}

#[test]
fn a_client_that_loses_its_connection_finds_its_session_and_all_output_again() {
    for era in [Era::Legacy, Era::Modern] {
        take_back(&mut over_http(era), |client, id| client.vanish(id));
    }
}

#[test]
fn a_slow_caller_loses_nothing_of_a_flood() {
    let mut client = client();
    let start = json!({ "cmd": "seq 300000; echo END", "yield_time_ms": 250, "max_output_tokens": 10 });
    let reply = exec(&mut client, start);
    let output = reply.field("output_id").as_str().unwrap().to_owned();
    if reply.field("exit_code").is_null() {
        to_the_end(&mut client, reply.session());
    }
    let last = json!({ "output_id": output, "tail": 2 });
    let text = client.call("read_output", last)["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("300000") && text.contains("END"), "{text}");
    let middle = json!({ "output_id": output, "grep": "^150000$" });
    let text =
        client.call("read_output", middle)["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("150000"), "{text}");
}

#[test]
fn whoever_comes_back_to_an_evicted_session_is_told_where_its_output_is() {
    let mut client = client_with(&[("RUNWARD_LIMITS_KEPT_SESSIONS", "10")]);
    let start = json!({ "cmd": "echo mine; exec sleep 600", "yield_until": "mine", "yield_time_ms": 20000 });
    let first = exec(&mut client, start.clone()).session();
    let second = exec(&mut client, start.clone()).session();
    let ended = exec(&mut client, json!({ "cmd": "read x; exit 3", "stdin": "pipe", "yield_time_ms": 250 }))
        .session();
    write(&mut client, json!({ "session_id": first, "chars": "\u{1}" }));
    let many: Vec<u64> = (0..9).map(|_| exec(&mut client, start.clone()).session()).collect();
    let gone = write(&mut client, json!({ "session_id": second }));
    assert!(
        gone.is_error()
            && gone.text().contains("was evicted to make room for newer ones (limits.kept_sessions)"),
        "{}",
        gone.text()
    );
    let output = gone.text().rsplit("output_id ").next().unwrap().to_owned();
    let text = client.call("read_output", json!({ "output_id": output })).to_string();
    assert!(text.contains("mine"), "{text}");
    assert_eq!(sessions(&mut client).len(), 10);
    drop((ended, many));
}

#[test]
fn a_session_that_somebody_waits_for_is_not_evicted() {
    let mut client = client_with(&[("RUNWARD_LIMITS_KEPT_SESSIONS", "10")]);
    let start = json!({ "cmd": "exec sleep 600", "yield_time_ms": 250, "yield_idle_ms": 1 });
    let awaited = exec(&mut client, start.clone()).session();
    let poll =
        json!({ "name": "write_stdin", "arguments": { "session_id": awaited, "yield_time_ms": 300_000 } });
    let waiting = client.begin("tools/call", poll);
    for _ in 0..12 {
        exec(&mut client, start.clone());
    }
    let kept = sessions(&mut client);
    assert!(kept.iter().any(|session| session["session_id"] == json!(awaited)), "{kept:?}");
    client.call("kill_session", json!({ "session_id": awaited }));
    assert!(Reply::of(&client.answer(waiting)).exit_code() > 128);
}

#[test]
fn more_than_the_usual_number_of_sessions_can_be_started() {
    let mut client = client();
    let start = json!({ "cmd": "exec sleep 600", "yield_time_ms": 250, "yield_idle_ms": 1 });
    let ids: Vec<u64> = (0..70).map(|_| exec(&mut client, start.clone()).session()).collect();
    let kept: Vec<u64> = sessions(&mut client).iter().filter_map(|one| one["session_id"].as_u64()).collect();
    assert_eq!(kept.len(), 64);
    assert!(ids[62..].iter().all(|id| kept.contains(id)), "the most recent ones are kept");
}

#[test]
fn many_short_sessions_leave_nothing_behind() {
    let mut client = client();
    let pid = client.server().pid();
    if std::fs::read_dir(format!("/proc/{pid}/fd")).is_err() {
        return skipped("only root sees what a server has open");
    }
    let counts = |pid: u32| {
        let entries = |what: &str| std::fs::read_dir(format!("/proc/{pid}/{what}")).unwrap().count();
        (entries("fd"), entries("task"))
    };
    let mut round = |count: usize| {
        for turn in 0..count {
            let reply = exec(&mut client, json!({ "cmd": "echo x", "tty": turn % 2 == 0 }));
            assert_eq!(reply.exit_code(), 0);
        }
        sessions(&mut client).len()
    };
    round(40);
    let before = counts(pid);
    assert_eq!(round(1000), 0);
    let after = counts(pid);
    assert!(after.0 <= before.0 + 4 && after.1 <= before.1 + 4, "{before:?} {after:?}");
}

#[test]
fn a_session_is_read_again_without_being_consumed() {
    let mut client = client();
    let start = json!({ "cmd": "echo one; read x; echo two; read x", "stdin": "pipe", "yield_until": "one" });
    let session = exec(&mut client, start).session();
    let first = Reply::of(&client.call("read_session", json!({ "session_id": session })));
    assert_eq!(first.output(), "one\n");
    write(&mut client, json!({ "session_id": session, "chars": "\n", "yield_until": "two" }));
    let since = first.field("next_seq").clone();
    let second = Reply::of(&client.call("read_session", json!({ "session_id": session, "since": since })));
    assert_eq!(second.output(), "two\n");
    let whole = Reply::of(&client.call("read_session", json!({ "session_id": session })));
    assert_eq!(whole.output(), "one\ntwo\n");
    let part = json!({ "session_id": session, "max_output_tokens": 1 });
    let part = Reply::of(&client.call("read_session", part));
    assert!(part.output().contains(" tokens truncated…") && part.note().contains("read_output"), "{part:?}");
}

#[test]
fn calls_on_different_sessions_do_not_wait_for_each_other() {
    let mut client = client();
    let start = json!({ "cmd": "cat", "stdin": "pipe", "yield_time_ms": 250 });
    let (slow, quick) = (exec(&mut client, start.clone()).session(), exec(&mut client, start).session());
    let poll =
        json!({ "name": "write_stdin", "arguments": { "session_id": slow, "yield_time_ms": 300_000 } });
    let waiting = client.begin("tools/call", poll);
    let echoed = write(&mut client, json!({ "session_id": quick, "chars": "hi\n", "yield_until": "hi" }));
    assert_eq!(echoed.output(), "hi\n");
    let killed = client.call("kill_session", json!({ "session_id": slow }));
    assert!(killed.to_string().contains("has ended"), "{killed}");
    let last = Reply::of(&client.answer(waiting));
    assert!(last.exit_code() > 128, "{last:?}");
}

#[test]
fn a_session_takes_part_in_a_workflow() {
    let mut client = client();
    let first = exec(&mut client, json!({ "cmd": "echo passed on", "login": false }));
    let output = first.field("output_id").clone();
    let second = exec(&mut client, json!({ "cmd": "cat", "input_from": output }));
    assert_eq!(second.output(), "passed on\n");
    let condition = json!({ "output_id": output, "exit_code": 1 });
    let skipped = exec(&mut client, json!({ "cmd": "echo no", "only_if": condition }));
    assert!(!skipped.is_error() && skipped.text().starts_with("skipped: "), "{skipped:?}");
}

#[test]
fn a_retry_with_the_same_key_comes_back_to_the_same_session() {
    let mut client = client();
    let start = json!({ "cmd": "echo once; sleep 600", "request_key": "k", "yield_until": "once", "yield_time_ms": 20000 });
    let first = exec(&mut client, start.clone()).session();
    let again = json!({ "yield_time_ms": 250, "cmd": start["cmd"], "request_key": "k" });
    assert_eq!(exec(&mut client, again.clone()).session(), first);
    assert_eq!(sessions(&mut client).len(), 1);
    let third = exec(&mut client, again);
    assert!(third.0["content"].to_string().contains("attached: true"), "{third:?}");
}

#[test]
fn a_one_shot_call_that_outlives_its_caller_is_gone_on_with() {
    let mut client = client_with(&[("RUNWARD_MCP_PATIENCE", "1s")]);
    let reply = Reply::of(&client.call("shell", json!({ "command": "sleep 2; echo at last" })));
    let session = reply.session();
    let (printed, last) = to_the_end(&mut client, session);
    assert_eq!((printed.as_str(), last.exit_code()), ("at last\n", 0));
}
