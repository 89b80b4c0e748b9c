//! How a server ends.

use std::io::Write as _;

use runward_testkit::mcp::{Client, Era, StdioClient, request};
use runward_testkit::{Marker, TestServer, eventually, skipped};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{stdio, stdio_program, told};
use crate::program::Program;
use crate::reply::Reply;

#[test]
fn an_input_that_ends_at_once_is_a_quiet_end() {
    let ended = Program::new(&["stdio"]).env("ALLOWED_COMMANDS", "ls").run();
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""), "{ended:?}");
}

#[test]
fn an_input_that_ends_without_a_newline_is_read_to_its_end() {
    let mut client = StdioClient::silent(stdio_program().into_command(), Era::Modern);
    client.send_line(b"half");
    client.close_input();
    assert_eq!(client.receive().unwrap()["error"]["code"], -32700);
    assert_eq!(client.receive(), None);
    assert!(client.server().ended().success());
}

fn family(marker: &Marker) -> Value {
    json!({ "name": "execute_process", "arguments": told(&["family", marker.as_str(), "wait"]) })
}

fn wait_for(marker: &Marker) {
    eventually("the family is there", || marker.carriers().len() >= 8);
}

fn busy() -> (StdioClient, u64, Marker) {
    let (mut client, marker) = (stdio(), Marker::new());
    let id = client.begin("tools/call", family(&marker));
    wait_for(&marker);
    (client, id, marker)
}

#[test]
fn when_the_input_ends_everything_is_stopped_before_the_server_exits() {
    let (mut client, _, marker) = busy();
    client.close_input();
    assert!(client.server().ended().success());
    assert_eq!(marker.carriers(), Vec::<i32>::new());
}

#[test]
fn a_server_that_is_told_to_stop_answers_what_is_open_and_exits() {
    for signal in [Signal::TERM, Signal::INT] {
        let (mut client, id, marker) = busy();
        client.server().signal(signal);
        let reply = Reply::read(&client.answer(id));
        assert_eq!((reply.is_error, reply.error.as_deref()), (true, Some("The server is shutting down")));
        assert!(client.server().ended().success());
        assert_eq!(marker.carriers(), Vec::<i32>::new());
    }
}

#[test]
fn nothing_but_messages_is_written_to_the_output() {
    let mut client = stdio();
    client.send_line(b"noise");
    client.begin("tools/list", json!({}));
    client.call("execute_process", told(&["print", "{}\n", "eprint", "loud", "exit", "1"]));
    client.close_input();
    let rest: Vec<Value> = std::iter::from_fn(|| client.receive()).collect();
    assert_eq!(rest.len(), 2, "{rest:?}");
    assert!(client.server().ended().success());
}

#[test]
fn when_nobody_reads_the_output_any_more_everything_is_stopped() {
    let (mut server, marker) = (TestServer::start(stdio_program().into_command()), Marker::new());
    let (mut input, output) = (server.take_input(), server.take_output());
    writeln!(input, "{}", request(Era::Modern, 1, "tools/call", family(&marker))).unwrap();
    wait_for(&marker);
    drop(output);
    // An answer that cannot be written is how a server may find out.
    writeln!(input, "{}", request(Era::Modern, 2, "tools/list", json!({}))).unwrap();
    assert!(server.ended().success());
    assert_eq!(marker.carriers(), Vec::<i32>::new());
}

#[test]
fn a_killed_server_leaves_nobody_behind_under_any_containment() {
    for containment in ["cgroup", "namespace", "keeper"] {
        let program = stdio_program().env("RUNWARD_PROCESS_CONTAINMENT", containment);
        let (mut client, marker) = (StdioClient::start(program.into_command(), Era::Modern), Marker::new());
        let first = Reply::read(&client.call("execute_process", told(&["exit", "0"])));
        if first.exit_code.is_none() {
            skipped(&format!("no {containment} containment on this host: {}", first.refusal()));
            continue;
        }
        client.begin("tools/call", family(&marker));
        wait_for(&marker);
        client.server().signal(Signal::KILL);
        client.server().ended();
        eventually("the family is gone", || marker.carriers().is_empty());
    }
}
