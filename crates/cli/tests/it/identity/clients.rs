//! Clients share nothing, however local they are.

use std::collections::HashSet;

use runward_testkit::mcp::{Client, Era, HttpClient, request};
use serde_json::{Value, json};

use crate::program::Program;
use crate::raw::server::Raw;

fn server(era: Era) -> HttpClient {
    let program =
        Program::new(&[]).env("ALLOWED_COMMANDS", "*").env("RUNWARD_SANDBOX_PROFILE", "full-access");
    HttpClient::start(program.into_command(), era)
}

/// Another client of the same server, with a session of its own.
struct Other<'a> {
    server: &'a HttpClient,
    session: String,
}

impl<'a> Other<'a> {
    fn of(server: &'a HttpClient) -> Self {
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "testkit", "version": "1" } });
        let answer = server.post(&[], request(Era::Legacy, 0, "initialize", hello).to_string().as_bytes());
        let session = answer.header("mcp-session-id").unwrap().to_owned();
        let other = Other { server, session };
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
        assert_eq!(server.post(&other.headers(), ready.as_bytes()).status, 202);
        other
    }

    fn headers(&self) -> [(&str, &str); 2] {
        [("Mcp-Session-Id", &self.session), ("MCP-Protocol-Version", "2025-11-25")]
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let message = request(Era::Legacy, 1, "tools/call", params).to_string();
        self.server.post(&self.headers(), message.as_bytes()).messages().pop().unwrap()
    }
}

fn text(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// What is said of a name, without the name.
fn said_of(name: &str, answer: &Value) -> String {
    text(answer).replace(name, "NAME")
}

const SLEEP: &str = "echo begun; sleep 600";

#[test]
fn one_mcp_session_neither_sees_nor_drives_what_another_started() {
    let mut one = server(Era::Legacy);
    let begun = one.call("exec_command", json!({ "cmd": SLEEP, "yield_time_ms": 300 }));
    let fields = &begun["result"]["structuredContent"];
    let session = fields["session_id"].as_u64().unwrap_or_else(|| panic!("{begun}"));
    let output = fields["output_id"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    let other = Other::of(&one);
    assert_eq!(text(&other.call("list_sessions", &json!({}))), "no sessions\n");
    for (tool, rest) in
        [("write_stdin", json!({ "chars": "x" })), ("read_session", json!({})), ("kill_session", json!({}))]
    {
        let with = |id: u64| {
            let mut arguments = rest.clone();
            arguments["session_id"] = json!(id);
            said_of(&id.to_string(), &other.call(tool, &arguments))
        };
        assert_eq!(with(session), with(987_654), "{tool}: another's is as good as none");
    }
    let read = |id: &str| said_of(id, &other.call("read_output", &json!({ "output_id": id })));
    assert_eq!(read(&output), read("aaaaaaaaaaaa"));
    assert!(text(&one.call("list_sessions", json!({}))).contains("running"), "its own client has it still");
}

#[test]
fn a_request_key_of_one_mcp_session_is_not_anothers() {
    let mut one = server(Era::Legacy);
    let arguments = json!({ "command": "date +%N", "request_key": "again" });
    let first = text(&one.call("execute_command", arguments.clone()));
    let again = one.call("execute_command", arguments.clone()).to_string();
    assert!(again.contains("attached: true"), "{first} {again}");
    let other = Other::of(&one).call("execute_command", &arguments);
    assert!(!other.to_string().contains("attached"), "{other}");
}

#[test]
fn what_a_closed_session_left_running_is_ended() {
    let one = server(Era::Legacy);
    let marker = runward_testkit::Marker::new();
    let other = Other::of(&one);
    let line = format!("bash -c 'sleep 600; true' {}", marker.as_str());
    other.call("exec_command", &json!({ "cmd": line, "yield_time_ms": 300 }));
    assert!(!marker.carriers().is_empty());
    let mut socket = std::net::TcpStream::connect(one.address()).unwrap();
    let head = format!(
        "DELETE /mcp HTTP/1.1\r\nHost: {}\r\nMcp-Session-Id: {}\r\nConnection: close\r\n\r\n",
        one.address(),
        other.session
    );
    std::io::Write::write_all(&mut socket, head.as_bytes()).unwrap();
    runward_testkit::eventually("it is gone", || marker.carriers().is_empty());
}

#[test]
fn without_session_and_token_whoever_knows_a_number_has_it_and_nothing_is_listed() {
    let mut one = server(Era::Modern);
    let mut numbers = HashSet::new();
    for _ in 0..3 {
        let begun = one.call("exec_command", json!({ "cmd": SLEEP, "yield_time_ms": 300 }));
        let fields = &begun["result"]["structuredContent"];
        numbers.insert(fields["session_id"].as_u64().unwrap_or_else(|| panic!("{begun}")));
        assert_eq!(fields["output_id"].as_str().unwrap().len(), 33, "{begun}");
    }
    assert!(numbers.len() == 3 && numbers.iter().all(|number| *number > 1 << 32), "{numbers:?}");
    let listed = one.call("list_sessions", json!({}));
    assert!(
        listed.to_string().contains("nothing is listed") && text(&listed).contains("no sessions"),
        "{listed}"
    );
    let number = numbers.iter().next().unwrap();
    let read = one.call("read_session", json!({ "session_id": number }));
    assert!(text(&read).contains("begun"), "{read}");
    let key = one.call("execute_command", json!({ "command": "date", "request_key": "again" }));
    assert!(text(&key).contains("could be guessed"), "{key}");
    let arguments = json!({ "command": "date", "request_key": "3b9ac9ff-94d2-4a7e-8f3e-0d6b1f0c2a11" });
    one.call("execute_command", arguments.clone());
    assert!(one.call("execute_command", arguments).to_string().contains("attached: true"));
}

#[test]
fn what_nobody_could_come_back_to_is_ended_when_its_caller_is_lost() {
    let mut one = server(Era::Modern);
    let marker = runward_testkit::Marker::new();
    let line = format!("bash -c 'sleep 600; true' {}", marker.as_str());
    let call = json!({ "name": "exec_command", "arguments": { "cmd": line, "yield_time_ms": 30000 } });
    let lost = one.begin("tools/call", call);
    runward_testkit::eventually("it runs", || !marker.carriers().is_empty());
    one.vanish(lost);
    runward_testkit::eventually("it is gone", || marker.carriers().is_empty());
}

#[test]
fn a_stream_belongs_to_whoever_knows_its_name_which_nobody_can_guess() {
    let raw = Raw::allowing("true");
    let names: HashSet<String> = (0..20).map(|_| raw.run(&json!({ "executable": "true" })).start()).collect();
    assert_eq!(names.len(), 20);
    for name in &names {
        assert!(name.len() == 33 && name.starts_with(char::is_alphabetic), "{name}");
        assert!(name[1..].chars().all(|digit| digit.is_ascii_hexdigit()), "{name}");
    }
}
