//! Hostile neighbours: whatever comes, the next honest request is answered.

use std::cell::RefCell;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use runward_testkit::mcp::{Client, Era, HttpClient, StdioClient, request};
use runward_testkit::puppet;
use serde_json::{Map, Value, json};

use super::{lives, stdio_program};
use crate::program::Program;

/// The same cases every time.
fn runner(cases: u32) -> TestRunner {
    TestRunner::new_with_rng(
        Config { cases, failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    )
}

fn silent() -> StdioClient {
    StdioClient::silent(stdio_program().into_command(), Era::Modern)
}

fn any_value() -> impl Strategy<Value = Value> {
    let words = ["", "\0", "true", "~", "..", "/", "echo $(", "a;b|c&&d", "<<X", "\u{FEFF}", "é\u{2028}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(words.to_vec()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[ -~\n]{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(".{0,5}", inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_arguments() -> impl Strategy<Value = Map<String, Value>> {
    let names = ["command", "file", "args", "cwd", "input", "timeout_ms"];
    let name =
        prop_oneof![8 => proptest::sample::select(names.to_vec()).prop_map(String::from), 1 => ".{0,8}"];
    btree_map(name, any_value(), 0..5).prop_map(|map| map.into_iter().collect())
}

#[test]
fn random_arguments_always_get_a_result() {
    let client = RefCell::new(silent());
    let tool = proptest::sample::select(vec!["execute_command", "execute_process"]);
    let outcome = runner(400).run(&(tool, any_arguments()), |(tool, arguments)| {
        let answer = client.borrow_mut().call(tool, Value::Object(arguments));
        let text = answer["result"]["content"][0]["text"].as_str();
        prop_assert!(text.is_some_and(|text| !text.is_empty()), "{}", answer);
        Ok(())
    });
    outcome.unwrap();
    lives(&mut *client.borrow_mut());
}

/// Noise, or an honest message with some of its bytes changed.
fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let call = json!({ "name": "execute_process", "arguments": { "file": "true" } });
    let mut honest = vec![
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "x" } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": "r", "result": {} }),
    ];
    for (method, params) in [("tools/list", json!({})), ("tools/call", call), ("server/discover", json!({}))]
    {
        let mut message = request(Era::Modern, 0, method, params);
        message["id"] = json!("noise");
        honest.push(message);
    }
    let lines: Vec<Vec<u8>> = honest.iter().map(|message| message.to_string().into_bytes()).collect();
    let damage = vec((any::<proptest::sample::Index>(), any::<u8>()), 0..6);
    let damaged = (proptest::sample::select(lines), damage).prop_map(|(mut line, damage)| {
        for (index, byte) in damage {
            let at = index.index(line.len());
            line[at] = byte;
        }
        line
    });
    let noise =
        prop_oneof![vec(any::<u8>(), 0..200), "[\\[\\]{}\":,a-z0-9]{0,60}".prop_map(String::into_bytes)];
    prop_oneof![noise, damaged].prop_map(|line| line.into_iter().filter(|byte| *byte != b'\n').collect())
}

#[test]
fn random_lines_leave_no_honest_request_without_an_answer() {
    let client = RefCell::new(silent());
    let outcome = runner(100).run(&vec(any_line(), 1..10), |lines| {
        let mut client = client.borrow_mut();
        for line in &lines {
            client.send_line(line);
        }
        let answer = client.ask("tools/list", json!({}));
        prop_assert!(answer["result"]["tools"].is_array(), "{}", answer);
        Ok(())
    });
    outcome.unwrap();
    lives(&mut *client.borrow_mut());
}

#[test]
fn random_bodies_always_get_an_answer_over_http() {
    let command = Program::new(&[]).env("ALLOWED_COMMANDS", puppet()).into_command();
    let mut client = HttpClient::start(command, Era::Modern);
    let header = proptest::sample::select(vec!["2026-07-28", "2025-11-25", "1999-12-31", ""]);
    let outcome = runner(200).run(&(header, any_line()), |(version, body)| {
        let answer = client.post(&[("MCP-Protocol-Version", version)], &body);
        prop_assert!((200..500).contains(&answer.status), "{:?}", answer);
        prop_assert!(answer.status == 202 || !answer.body.is_empty(), "{:?}", answer);
        Ok(())
    });
    outcome.unwrap();
    lives(&mut client);
}
