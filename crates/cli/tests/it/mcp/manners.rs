//! What a server does not do, and what it does to be waited for.

use std::fs;

use runward_testkit::mcp::{Client, Era, HttpClient, StdioClient};
use runward_testkit::puppet;
use serde_json::{Value, json};

use super::{everywhere, told};
use crate::program::Program;
use crate::reply::Reply;

const SECRET: &str = "s3cret-token-of-the-operator";

#[test]
fn a_server_that_was_only_asked_for_its_tools_has_made_no_files() {
    let home = tempfile::tempdir().unwrap();
    let program = |args: &[&str]| {
        let program = Program::new(args).env("HOME", home.path()).env("TMPDIR", home.path());
        program.current_dir(home.path())
    };
    for mut client in everywhere(program) {
        client.ask("tools/list", json!({}));
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }
}

fn with_secrets(args: &[&str]) -> Program {
    let program = Program::new(args).env("RUNWARD_TOKEN", SECRET).env("RUNWARD_MCP_HEARTBEAT", "7s");
    // The most open-handed settings that there are.
    let program = program.env("RUNWARD_SHELL_TOOL_INHERIT_ENVIRONMENT", "all");
    let program = program.env("RUNWARD_SHELL_TOOL_INHERIT_ALSO", "*");
    program.env("ALLOWED_COMMANDS", format!("cat,{}", puppet().display())).env("HOME", "/passed/on")
}

#[track_caller]
fn keeps_its_secrets(client: &mut dyn Client) {
    let environment = Reply::read(&client.call("execute_process", told(&["environment"]))).stdout;
    assert!(environment.contains("HOME=/passed/on\n"), "{environment}");
    assert!(!environment.contains("RUNWARD_"), "{environment}");
    let own = format!("/proc/{}/environ", client.server().pid());
    for file in [own.as_str(), "/proc/self/environ"] {
        let read = client.call("execute_process", json!({ "file": "cat", "args": [file] }));
        let reply = Reply::read(&read);
        assert!(!reply.stdout.contains(SECRET), "{file}");
    }
}

#[test]
fn commands_see_neither_the_token_nor_the_settings_of_the_server() {
    keeps_its_secrets(&mut StdioClient::start(with_secrets(&["stdio"]).into_command(), Era::Legacy));
    let command = with_secrets(&[]).into_command();
    keeps_its_secrets(&mut HttpClient::start_with_token(command, Era::Modern, SECRET));
}

#[test]
fn a_silent_command_reports_that_it_is_alive_before_its_result() {
    let heartbeat = |args: &[&str]| {
        Program::new(args).env("ALLOWED_COMMANDS", puppet()).env("RUNWARD_MCP_HEARTBEAT", "1s")
    };
    let mut clients = everywhere(heartbeat);
    let mut arguments = told(&["print", "five5", "wait"]);
    arguments["timeout_ms"] = json!(3900);
    let params =
        json!({ "name": "execute_process", "arguments": arguments, "_meta": { "progressToken": "mine" } });
    let calls: Vec<u64> =
        clients.iter_mut().map(|client| client.begin("tools/call", params.clone())).collect();
    for (client, call) in clients.iter_mut().zip(calls) {
        let mut messages = client.messages(call);
        assert_eq!(Reply::read(&messages.pop().unwrap()).exit_code, Some(124));
        let params: Vec<&Value> = messages.iter().map(|message| &message["params"]).collect();
        assert!(messages.iter().all(|message| message["method"] == "notifications/progress"), "{messages:?}");
        assert!(params.iter().all(|params| params["progressToken"] == "mine"), "{messages:?}");
        assert!(params[0]["message"].as_str().unwrap().ends_with("5 bytes of output"), "{messages:?}");
        let counts: Vec<f64> = params.iter().map(|params| params["progress"].as_f64().unwrap()).collect();
        assert!(counts.len() >= 2 && counts.is_sorted_by(|one, next| one < next), "{counts:?}");
    }
}

#[test]
fn nobody_who_did_not_ask_hears_of_progress() {
    let program =
        || Program::new(&["stdio"]).env("ALLOWED_COMMANDS", puppet()).env("RUNWARD_MCP_HEARTBEAT", "1s");
    let mut client = StdioClient::start(program().into_command(), Era::Modern);
    let mut arguments = told(&["wait"]);
    arguments["timeout_ms"] = json!(1500);
    let call = client.begin("tools/call", json!({ "name": "execute_process", "arguments": arguments }));
    assert_eq!(client.messages(call).len(), 1);
}
