//! How a server ends.

use runward_testkit::mcp::{Client, Era, StdioClient};
use runward_testkit::{Marker, eventually};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{stdio, stdio_program, told};
use crate::program::Program;

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

fn busy() -> (StdioClient, u64, Marker) {
    let (mut client, marker) = (stdio(), Marker::new());
    let arguments = told(&["family", marker.as_str(), "wait"]);
    let id = client.begin("tools/call", json!({ "name": "execute_process", "arguments": arguments }));
    eventually("the family is there", || marker.carriers().len() >= 8);
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
        let reply = crate::reply::Reply::read(&client.answer(id));
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
