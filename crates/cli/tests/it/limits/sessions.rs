//! Many MCP sessions.

use runward_testkit::mcp::{Client as _, Era, HttpClient, request};
use serde_json::json;

use crate::program::Program;

#[test]
fn fifteen_hundred_new_sessions_push_out_none_that_was_used() {
    let program = Program::new(&[]).env("ALLOWED_COMMANDS", "*").into_command();
    let mut client = HttpClient::start(program, Era::Legacy);
    client.call("execute_command", json!({"command": "true"}));
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "flood", "version": "1"}
    });
    let hello = request(Era::Legacy, 0, "initialize", params).to_string();
    for _ in 0..1500 {
        assert_eq!(client.post(&[], hello.as_bytes()).status, 200);
    }
    let answer = client.call("execute_command", json!({"command": "echo still here"}));
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("still here"), "{answer}");
}
