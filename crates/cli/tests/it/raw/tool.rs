//! `run_network_tool`: the same input as an MCP tool.

use runward_testkit::mcp::{Client, Era, StdioClient};
use runward_testkit::puppet;
use serde_json::{Value, json};

use crate::program::Program;

fn client() -> StdioClient {
    let program = Program::new(&["stdio"]).env("ALLOWED_COMMANDS", puppet());
    StdioClient::start(program.into_command(), Era::Modern)
}

fn called(client: &mut StdioClient, verbs: &[&str]) -> Value {
    let arguments = json!({ "executable": puppet(), "args": verbs, "env": { "GIVEN": "given" } });
    client.call("run_network_tool", arguments)["result"].clone()
}

#[test]
fn both_outputs_and_the_exit_code_are_structured() {
    let mut client = client();
    let result = called(&mut client, &["env", "GIVEN", "eprint", "err", "exit", "7"]);
    assert_eq!(result["structuredContent"], json!({"stdout": "given", "stderr": "err", "exitCode": 7}));
    assert_ne!(result["isError"], true, "an exit code is no error");
    assert_eq!(called(&mut client, &["die", "9"])["structuredContent"]["exitCode"], Value::Null);
}

#[test]
fn each_output_is_cut_at_a_mebibyte_from_its_beginning() {
    let result = called(&mut client(), &["print", "begin", "flood", "3000000", "eprint", "small"]);
    let stdout = result["structuredContent"]["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("begin0123") && stdout.ends_with("...truncated..."));
    assert_eq!(stdout.len(), (1 << 20) + "...truncated...".len());
    assert_eq!(result["structuredContent"]["stderr"], "small");
}

#[test]
fn a_denial_is_an_error_with_its_reason() {
    let result = client().call("run_network_tool", json!({"executable": "whoami"}))["result"].clone();
    assert_eq!(result["isError"], true);
    let reason = result["content"][0]["text"].as_str().unwrap();
    assert!(reason.starts_with("command \"whoami\" is not allowed"), "{reason}");
    assert!(result.get("structuredContent").is_none(), "{result}");
}
