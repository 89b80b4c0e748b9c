//! Lines that are no requests: an error answer where one is due, and a server that goes on.

use runward_testkit::mcp::{Client, Era, StdioClient, request};
use serde_json::{Value, json};

use super::{lives, stdio, stdio_program, told};

/// A server that nobody has spoken to yet, and what it says to this line.
fn first_line(line: &[u8]) -> (StdioClient, Value) {
    let mut client = StdioClient::silent(stdio_program().into_command(), Era::Modern);
    client.send_line(line);
    let answer = client.receive().unwrap();
    (client, answer)
}

#[track_caller]
fn is_refused(line: &[u8], code: i64, id: &Value) {
    let (mut client, answer) = first_line(line);
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), id), "{answer}");
    lives(&mut client);
    client.send_line(line);
    let answer = client.receive().unwrap();
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), id), "{answer}");
    lives(&mut client);
}

#[test]
fn a_line_that_is_not_json_gets_a_parse_error() {
    is_refused(b"Content-Length: 52", -32700, &json!(null));
    is_refused(b"{\"jsonrpc\":\"2.0\",\"id\":1,", -32700, &json!(null));
}

#[test]
fn json_that_is_no_message_gets_an_error_with_its_id() {
    is_refused(b"{\"id\":\"mine\",\"hello\":1}", -32600, &json!("mine"));
    is_refused(b"42", -32600, &json!(null));
}

#[test]
fn an_over_long_line_gets_an_error_with_its_id() {
    let long = "x".repeat(9 << 20);
    let line = json!({ "jsonrpc": "2.0", "id": "long", "method": "ping", "params": { "x": long } });
    is_refused(line.to_string().as_bytes(), -32600, &json!("long"));
}

#[test]
fn json_that_is_nested_too_deeply_gets_an_error() {
    let line = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
    let (mut client, answer) = first_line(&line);
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    lives(&mut client);
}

#[test]
fn a_batch_gets_an_error_for_each_of_its_requests() {
    let one = request(Era::Modern, 71, "tools/list", json!({}));
    let two = request(Era::Modern, 72, "tools/list", json!({}));
    let (mut client, answer) = first_line(json!([one, two]).to_string().as_bytes());
    let refusals = answer.as_array().unwrap();
    let ids: Vec<_> = refusals.iter().map(|refusal| (&refusal["id"], &refusal["error"]["code"])).collect();
    assert_eq!(ids, [(&json!(71), &json!(-32600)), (&json!(72), &json!(-32600))]);
    lives(&mut client);
}

#[test]
fn a_notification_may_come_first_and_blank_lines_anywhere() {
    let mut client = StdioClient::silent(stdio_program().into_command(), Era::Modern);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/unheard-of", "params": [1] }));
    client.send(&json!({ "jsonrpc": "2.0", "id": 9, "result": {} }));
    for blank in [b"".as_slice(), b"  ", b"\r"] {
        client.send_line(blank);
    }
    lives(&mut client);
}

#[test]
fn a_second_request_with_the_id_of_a_running_one_is_refused_and_the_first_is_answered() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("go").to_str().unwrap().to_owned();
    let mut client = stdio();
    let call = |verbs: &[&str]| {
        let params = json!({ "name": "execute_process", "arguments": told(verbs) });
        request(Era::Modern, 500, "tools/call", params)
    };
    client.send(&call(&["await", &file, "print", "first"]));
    client.send(&call(&["print", "second"]));
    let refusal = client.receive().unwrap();
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(500), &json!(-32600)), "{refusal}");
    std::fs::write(&file, "").unwrap();
    let reply = crate::reply::Reply::read(&client.receive().unwrap());
    assert_eq!(reply.stdout, "first");
    client.send(&call(&["print", "third"]));
    assert_eq!(crate::reply::Reply::read(&client.answer(500)).stdout, "third");
}

#[test]
fn a_request_whose_id_is_a_text_is_answered_by_that_text() {
    let mut client = stdio();
    let mut message = request(Era::Modern, 0, "tools/list", json!({}));
    message["id"] = json!("é \"quoted\"");
    client.send(&message);
    let answer = client.receive().unwrap();
    assert_eq!(answer["id"], message["id"]);
    assert!(answer["result"]["tools"].is_array(), "{answer}");
}
