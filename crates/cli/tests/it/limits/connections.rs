//! Clients that take their time.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use runward_testkit::{PATIENCE, eventually};
use serde_json::{Value, json};

use crate::raw::server::Raw;

const TOKEN: &str = "s3cret";
const BEARER: (&str, &str) = ("Authorization", "Bearer s3cret");

/// A server that demands a token, with so many connections and limits that no test waits for.
fn guarded(connections: &str, others: &[(&str, &str)]) -> Raw {
    let most = ("RUNWARD_HTTP_MAX_CONNECTIONS", connections);
    Raw::with(&[&[("ALLOWED_COMMANDS", "*"), ("RUNWARD_TOKEN", TOKEN), most], others].concat())
}

/// A connection over which this was sent.
fn saying(raw: &Raw, said: &str) -> TcpStream {
    let mut socket = TcpStream::connect(&raw.address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(said.as_bytes()).unwrap();
    socket
}

/// Everything that the server says until it ends the connection.
fn heard(mut socket: TcpStream) -> String {
    let mut text = Vec::new();
    // A connection that was reset has ended too.
    let end = socket.read_to_end(&mut text);
    assert!(end.is_ok() || end.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset));
    String::from_utf8(text).unwrap()
}

fn is_open(socket: &TcpStream) -> bool {
    socket.set_nonblocking(true).unwrap();
    let read = socket.peek(&mut [0]);
    socket.set_nonblocking(false).unwrap();
    read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}

fn runs(raw: &Raw) {
    let body = json!({"executable": "true"}).to_string();
    let answer = raw.send("POST", "/raw", &[BEARER], body.as_bytes());
    assert_eq!(answer.status, 200);
    assert_eq!(answer.events().last().unwrap()["exitCode"], 0);
}

#[test]
fn a_hundred_slow_heads_leave_room_for_whoever_has_the_token() {
    let raw = guarded("16", &[]);
    let body = json!({"executable": "sleep", "args": ["600"]}).to_string();
    let mut stream = raw.send("POST", "/raw", &[BEARER], body.as_bytes());
    let session = stream.start();
    let slow: Vec<TcpStream> = (0..100).map(|_| saying(&raw, "POST /raw HTTP/1.1\r\nX-Slow: ")).collect();
    eventually("most of them have had to go", || slow.iter().filter(|socket| is_open(socket)).count() <= 15);
    runs(&raw);
    assert!(is_open(slow.last().unwrap()), "the youngest stays");
    let stopped = raw.send("DELETE", &format!("/raw/{session}"), &[BEARER], b"");
    assert_eq!(stopped.status, 200);
    assert_eq!(stream.events().last().unwrap()["stopped"], "cancelled");
}

#[test]
fn without_a_token_a_connection_that_has_asked_nothing_makes_room() {
    let raw = Raw::with(&[("ALLOWED_COMMANDS", "*"), ("RUNWARD_HTTP_MAX_CONNECTIONS", "8")]);
    let mut stream = raw.run(&json!({"executable": "sleep", "args": ["600"]}));
    stream.start();
    let silent: Vec<TcpStream> = (0..50).map(|_| saying(&raw, "")).collect();
    eventually("most of them have had to go", || silent.iter().filter(|socket| is_open(socket)).count() <= 7);
    assert_eq!(raw.run(&json!({"executable": "true"})).events().last().unwrap()["exitCode"], 0);
}

#[test]
fn when_every_connection_is_in_use_a_new_one_is_told_so() {
    let raw = guarded("4", &[]);
    let body = json!({"executable": "sleep", "args": ["600"]}).to_string();
    let mut streams: Vec<_> = (0..4).map(|_| raw.send("POST", "/raw", &[BEARER], body.as_bytes())).collect();
    for stream in &mut streams {
        stream.start();
    }
    let told = heard(TcpStream::connect(&raw.address).unwrap());
    assert!(told.starts_with("HTTP/1.1 503 ") && told.contains("http.max_connections"), "{told}");
    drop(streams.pop());
    eventually("there is room again", || raw.send("GET", "/healthz", &[], b"").status == 200);
}

#[test]
fn a_head_that_takes_too_long_is_told_so_however_it_drips() {
    let raw = guarded("16", &[("RUNWARD_HTTP_HEAD_TIMEOUT", "300ms")]);
    let told = heard(saying(&raw, "GET /healthz HTTP/1.1\r\nX-Slow: "));
    assert!(told.starts_with("HTTP/1.1 408 ") && told.contains("http.head_timeout"), "{told}");
    let mut dripping = saying(&raw, "GET /healthz HTTP/1.1\r\nX-Slow: ");
    eventually("it ends although something comes again and again", || {
        dripping.write_all(b"x").is_err() || !is_open(&dripping)
    });
}

#[test]
fn a_body_that_stands_still_is_told_so() {
    let raw = guarded("16", &[("RUNWARD_HTTP_BODY_TIMEOUT", "300ms")]);
    for path in ["/raw", "/check", "/mcp"] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: {}", raw.address, BEARER.1);
        let kind = "Content-Type: application/json\r\nAccept: application/json, text/event-stream";
        let told = heard(saying(&raw, &format!("{head}\r\n{kind}\r\nContent-Length: 100\r\n\r\n{{")));
        assert!(told.starts_with("HTTP/1.1 408 ") && told.contains("http.body_timeout"), "{path}: {told}");
    }
}

#[test]
fn who_has_shown_no_token_may_not_idle_and_who_has_may() {
    let raw =
        guarded("16", &[("RUNWARD_HTTP_IDLE_TIMEOUT", "300ms"), ("RUNWARD_HTTP_HEAD_TIMEOUT", "300ms")]);
    let ask = |token: &str| format!("GET /nothing HTTP/1.1\r\nHost: {}\r\n{token}\r\n", raw.address);
    let let_in = saying(&raw, &ask("Authorization: Bearer s3cret\r\n"));
    let body = json!({"executable": "sleep", "args": ["600"]}).to_string();
    let mut stream = raw.send("POST", "/raw", &[BEARER], body.as_bytes());
    stream.start();
    assert_eq!(heard(saying(&raw, "")), "");
    let told = heard(saying(&raw, &ask("Authorization: Bearer wrong\r\n")));
    assert!(told.starts_with("HTTP/1.1 401 "), "{told}");
    // Both have been silent for longer than the two that had to go.
    let mut again = let_in;
    again.write_all(ask("Connection: close\r\nAuthorization: Bearer s3cret\r\n").as_bytes()).unwrap();
    assert_eq!(heard(again).matches("HTTP/1.1 404 ").count(), 2);
    assert!(is_open(stream.socket()));
}

#[test]
fn three_hundred_silent_connections_take_no_descriptor_that_a_call_needs() {
    let raw = Raw::with_descriptors("-n 256", &[("ALLOWED_COMMANDS", "*"), ("RUNWARD_TOKEN", TOKEN)]);
    let silent: Vec<TcpStream> = (0..300).map(|_| saying(&raw, "")).collect();
    for _ in 0..10 {
        runs(&raw);
    }
    drop(silent);
}

#[test]
fn commands_get_the_limit_on_descriptors_that_the_server_was_started_with() {
    let raw = Raw::with_descriptors("-S -n 100", &[("ALLOWED_COMMANDS", "*")]);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", raw.server.pid())).unwrap();
    let own = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let fields: Vec<&str> = own.split_whitespace().collect();
    assert_ne!(fields[3], "100", "the server takes what it may: {own}");
    let events = raw.run(&json!({"executable": "bash", "args": ["-c", "ulimit -Sn; ulimit -Hn"]})).events();
    let printed = crate::raw::server::printed(&events, "stdout");
    assert_eq!(String::from_utf8(printed).unwrap(), format!("100\n{}\n", fields[4]));
}

#[test]
fn an_abort_file_that_cannot_be_looked_at_is_not_an_abort() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("loop");
    std::os::unix::fs::symlink(&file, &file).unwrap();
    let variables = [("ALLOWED_COMMANDS", "*"), ("RUNWARD_WORKFLOW_ABORT_FILE", file.to_str().unwrap())];
    let answer = Raw::with(&variables).post("/raw", &json!({"executable": "true"}));
    assert_eq!(answer.status, 503);
    let body: Value = answer.json();
    assert_eq!(body["error"]["code"], "abort_unknown");
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("whether runs are stopped cannot be told"), "{message}");
    assert!(!message.contains("earlier run failed"), "{message}");
}
