//! What a command leaves running goes on as a session of its client, and ends with it.

use runward_testkit::mcp::{Client, Era, HttpClient, StdioClient};
use runward_testkit::{Marker, eventually};
use serde_json::{Value, json};

use super::{Reply, client, client_with};
use crate::program::Program;

/// Leaves a process behind that prints a line and stays, and carries a mark.
fn leaves(marker: &Marker) -> String {
    format!("sh -c 'echo later; while :; do sleep 0.05; done; : {0}' & echo now; : {0}", marker.as_str())
}

fn call(client: &mut dyn Client, tool: &str, arguments: Value) -> Reply {
    Reply::of(&client.call(tool, arguments))
}

fn all_text(reply: &Reply) -> String {
    let parts = reply.0["content"].as_array().cloned().unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// The session that a reply names as going on, in whatever form its tool has.
#[track_caller]
fn named(reply: &Reply) -> u64 {
    let text = all_text(reply);
    let (_, rest) = text.split_once(" on as session ").unwrap_or_else(|| panic!("{text}"));
    rest.split(|c: char| !c.is_ascii_digit())
        .next()
        .and_then(|id| id.parse().ok())
        .unwrap_or_else(|| panic!("{text}"))
}

fn listed(client: &mut dyn Client) -> Vec<Value> {
    call(client, "list_sessions", json!({})).field("sessions").as_array().cloned().unwrap_or_default()
}

#[test]
fn every_tool_names_the_session_of_what_its_command_left_behind() {
    for profile in ["workspace-write", "full-access"] {
        let mut client = client_with(&[("RUNWARD_SANDBOX_PROFILE", profile)]);
        let marker = Marker::new();
        let line = leaves(&marker);
        for (tool, arguments) in [
            ("execute_command", json!({ "command": line })),
            ("execute_process", json!({ "file": "bash", "args": ["-c", line] })),
            ("shell", json!({ "command": line })),
            ("run_network_tool", json!({ "executable": "bash", "args": ["-c", line] })),
            ("exec_command", json!({ "cmd": line, "login": false })),
            ("exec_command", json!({ "cmd": format!("trap '' HUP; {line}"), "login": false, "tty": true })),
        ] {
            let reply = call(&mut client, tool, arguments);
            assert!(!reply.is_error() && all_text(&reply).contains("now"), "{tool}: {reply:?}");
            let session = named(&reply);
            let all: Vec<Value> =
                listed(&mut client).into_iter().filter(|one| one["running"] == json!(true)).collect();
            let [one] = all.as_slice() else { panic!("{tool}: {all:?}") };
            assert_eq!(
                (&one["session_id"], &one["running"], &one["exit_code"]),
                (&json!(session), &json!(true), &json!(0))
            );
            assert!(!marker.carriers().is_empty(), "{tool}");
            let killed = call(&mut client, "kill_session", json!({ "session_id": session }));
            assert!(
                killed.text().starts_with(&format!("session {session} has ended, exit_code 0")),
                "{killed:?}"
            );
            assert_eq!(marker.carriers(), Vec::<i32>::new(), "{tool}");
        }
    }
}

#[test]
fn what_it_prints_later_is_read_from_its_session_and_its_end_is_told_once() {
    let mut client = client();
    let directory =
        tempfile::tempdir_in(runward_testkit::seen_by_the_confined(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let line = "{ until [ -e go ]; do sleep 0.02; done; echo later; } & echo now";
    let reply = call(&mut client, "shell", json!({ "command": line, "working_directory": directory.path() }));
    assert_eq!((reply.field("exit_code"), reply.field("stdout")), (&json!(0), &json!("now\n")), "{reply:?}");
    let session = reply.session();
    let waiting = super::write(&mut client, json!({ "session_id": session, "yield_time_ms": 250 }));
    assert_eq!((waiting.output(), waiting.session()), ("", session), "{waiting:?}");
    std::fs::write(directory.path().join("go"), "").unwrap();
    let (printed, last) = super::to_the_end(&mut client, session);
    assert_eq!((printed.as_str(), last.exit_code()), ("later\n", 0), "{last:?}");
    let whole = call(&mut client, "read_output", json!({ "output_id": reply.field("output_id") }));
    assert!(whole.text().contains("now") && whole.text().contains("later"), "{whole:?}");
    assert_eq!(listed(&mut client), Vec::<Value>::new());
}

#[test]
fn a_session_that_had_gone_on_tells_the_end_of_its_command_and_then_goes_on() {
    let mut client = client();
    let marker = Marker::new();
    let start =
        json!({ "cmd": format!("read line; {}", leaves(&marker)), "stdin": "pipe", "yield_time_ms": 250 });
    let session = super::exec(&mut client, start).session();
    let told =
        super::write(&mut client, json!({ "session_id": session, "chars": "x\n", "yield_time_ms": 20_000 }));
    assert_eq!((told.exit_code(), named(&told)), (0, session), "{told:?}");
    let still = super::write(&mut client, json!({ "session_id": session, "yield_time_ms": 250 }));
    assert!(still.text().contains(&format!("Process running with session ID {session}")), "{still:?}");
}

#[test]
fn a_timeout_or_a_cancelled_call_leaves_nothing_behind() {
    let mut client = client();
    let marker = Marker::new();
    let line = format!("{}; sleep 600", leaves(&marker));
    let reply = call(&mut client, "execute_command", json!({ "command": line, "timeout_ms": 700 }));
    assert!(reply.is_error() && !all_text(&reply).contains("goes on"), "{reply:?}");
    assert_eq!(marker.carriers(), Vec::<i32>::new());
    let id =
        client.begin("tools/call", json!({ "name": "execute_command", "arguments": { "command": line } }));
    eventually("it runs", || marker.carriers().len() >= 2);
    client.cancel(id);
    eventually("nothing is left", || marker.carriers().is_empty());
    assert_eq!(listed(&mut client), Vec::<Value>::new());
}

#[test]
fn the_time_of_a_call_is_no_time_for_what_it_left_behind() {
    let mut client = client();
    let marker = Marker::new();
    call(&mut client, "execute_command", json!({ "command": leaves(&marker), "timeout_ms": 900 }));
    let slept = call(&mut client, "execute_command", json!({ "command": "sleep 1.2" }));
    assert!(!slept.is_error() && !marker.carriers().is_empty());
}

#[test]
fn it_ends_with_its_client_and_with_a_killed_server() {
    for profile in ["workspace-write", "full-access"] {
        let mut clients = [(), ()].map(|()| client_with(&[("RUNWARD_SANDBOX_PROFILE", profile)]));
        let markers = [(), ()].map(|()| Marker::new());
        for (client, marker) in clients.iter_mut().zip(&markers) {
            named(&call(client, "shell", json!({ "command": format!("setsid {}", leaves(marker)) })));
        }
        let [mut leaves, mut killed] = clients;
        leaves.close_input();
        assert!(leaves.server().ended().success());
        assert_eq!(markers[0].carriers(), Vec::<i32>::new());
        killed.server().signal(rustix::process::Signal::KILL);
        killed.server().ended();
        eventually("nothing is left", || markers[1].carriers().is_empty());
    }
}

#[test]
fn it_counts_among_the_sessions_that_are_kept() {
    let mut client = client_with(&[("RUNWARD_LIMITS_KEPT_SESSIONS", "2")]);
    let markers = [(), (), ()].map(|()| Marker::new());
    for marker in &markers {
        named(&call(&mut client, "shell", json!({ "command": leaves(marker) })));
    }
    eventually("the oldest made room", || markers[0].carriers().is_empty());
    assert_eq!(listed(&mut client).len(), 2);
    assert!(markers[1..].iter().all(|marker| !marker.carriers().is_empty()));
}

#[test]
fn calls_that_leave_something_behind_take_no_room_from_others() {
    let mut client = client_with(&[("RUNWARD_LIMITS_SESSIONS", "1")]);
    let marker = Marker::new();
    for _ in 0..3 {
        named(&call(&mut client, "shell", json!({ "command": leaves(&marker) })));
    }
    let last = call(&mut client, "shell", json!({ "command": "echo fits" }));
    assert!(!last.is_error(), "{last:?}");
}

#[test]
fn where_nobody_could_come_back_to_it_it_is_ended() {
    let program = Program::new(&[]).env("ALLOWED_COMMANDS", "*");
    let mut client = HttpClient::start(program.into_command(), Era::Modern);
    let marker = Marker::new();
    let reply = call(&mut client, "shell", json!({ "command": leaves(&marker) }));
    let text = all_text(&reply);
    assert!(
        text.contains("still running") && text.contains("ended") && !text.contains(" on as session"),
        "{text}"
    );
    assert_eq!(marker.carriers(), Vec::<i32>::new());
}

#[test]
fn an_mcp_session_over_http_has_it_until_it_is_closed() {
    let program = Program::new(&[]).env("ALLOWED_COMMANDS", "*");
    let mut client = HttpClient::start(program.into_command(), Era::Legacy);
    let marker = Marker::new();
    let session = named(&call(&mut client, "shell", json!({ "command": leaves(&marker) })));
    assert_eq!(listed(&mut client)[0]["session_id"], json!(session));
    assert!(!marker.carriers().is_empty());
}

#[test]
fn another_command_of_its_client_reaches_what_it_serves_and_its_port_is_listed() {
    let mut client: StdioClient = client();
    let server = "exec 3<&0; python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & \
        until (exec 4<>/dev/tcp/127.0.0.1/8123) 2>/dev/null; do sleep 0.05; done; echo up";
    let reply = call(&mut client, "shell", json!({ "command": server }));
    let session = named(&reply);
    let all = listed(&mut client);
    assert_eq!((&all[0]["session_id"], &all[0]["ports"]), (&json!(session), &json!([8123])), "{all:?}");
    let fetched = "exec 3<>/dev/tcp/127.0.0.1/8123; printf 'HEAD / HTTP/1.0\\r\\n\\r\\n' >&3; head -n 1 <&3";
    let reply = call(&mut client, "shell", json!({ "command": fetched }));
    assert!(all_text(&reply).contains("200 OK"), "{reply:?}");
    let mut other = super::client();
    let refused = call(&mut other, "shell", json!({ "command": fetched }));
    assert!(refused.is_error(), "{refused:?}");
}
