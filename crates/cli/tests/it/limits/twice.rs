//! A name that is given twice.

use runward_testkit::mcp::{Era, HttpClient, StdioClient};
use serde_json::{Value, json};

use crate::program::Program;
use crate::raw::server::Raw;

const MEMBERS: [&str; 3] =
    [r#""args":["one"],"args":["two"]"#, r#""env":{"A":"1","A":"2"}"#, r#""\u0065xecutable":"true""#];

#[test]
fn a_name_that_is_given_twice_to_raw_and_check_is_refused() {
    let raw = Raw::allowing("*");
    for members in MEMBERS {
        for path in ["/raw", "/check"] {
            let body = format!(r#"{{"executable":"echo",{members}}}"#);
            let answer = raw.send("POST", path, &[], body.as_bytes());
            assert_eq!(answer.status, 400, "{path} {body}");
            let told = answer.json();
            assert!(told["error"]["message"].as_str().unwrap().contains("is given twice"), "{told}");
        }
    }
}

/// A call of a tool that would run, were one of its arguments not there twice.
fn call() -> String {
    let arguments = r#"{"file":"echo","args":["one"],"args":["two"]}"#;
    let params = format!(r#"{{"name":"execute_process","arguments":{arguments}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#)
}

#[test]
fn a_name_that_is_given_twice_to_a_tool_is_refused() {
    let program = || Program::new(&[]).env("ALLOWED_COMMANDS", "*").into_command();
    let http = HttpClient::start(program(), Era::Modern);
    let answer = http.post(&[], call().as_bytes());
    assert_eq!(answer.status, 400);
    let mut command = program();
    command.arg("stdio");
    let mut stdio = StdioClient::start(command, Era::Modern);
    stdio.send_line(call().as_bytes());
    let told = stdio.receive().unwrap();
    assert_eq!((&told["id"], &told["error"]["code"]), (&json!(7), &json!(-32600)));
    let answered: Value = serde_json::from_str(&answer.body).unwrap();
    for told in [told, answered] {
        let message = told["error"]["message"].as_str().unwrap();
        assert!(message.contains("\"args\" is given twice"), "{told}");
    }
}

#[test]
fn a_million_arguments_cost_neither_memory_nor_a_place_in_the_trail() {
    let state = tempfile::tempdir().unwrap();
    let raw = Raw::with(&[("ALLOWED_COMMANDS", "*"), ("XDG_STATE_HOME", state.path().to_str().unwrap())]);
    assert_eq!(raw.run(&json!({"executable": "true"})).events().last().unwrap()["exitCode"], 0);
    let before = raw.server.peak_memory_kib();
    let body = format!(r#"{{"executable":"echo","args":[""{}]}}"#, ",\"\"".repeat(1_390_000));
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                let answer = raw.send("POST", "/raw", &[], body.as_bytes());
                let told = answer.json();
                assert!(
                    told["error"]["message"].as_str().unwrap().contains("more than 4096 items"),
                    "{told}"
                );
            });
        }
    });
    // Twelve bodies of 4 MiB, and some room.
    let grown = raw.server.peak_memory_kib() - before;
    assert!(grown < 150 * 1024, "{grown} KiB");
    let trail = std::fs::metadata(state.path().join("runward/audit.db")).unwrap();
    assert!(trail.len() < 1 << 20, "{}", trail.len());
}
