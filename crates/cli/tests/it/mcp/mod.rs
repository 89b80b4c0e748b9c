//! MCP as its clients meet it.

mod arguments;
mod ending;
mod lines;
mod manners;
mod random;
mod tools;

use runward_testkit::mcp::{Client, Era, HttpClient, StdioClient};
use runward_testkit::puppet;
use serde_json::{Value, json};

use crate::program::Program;

/// The program as a server on standard streams that may run only the puppet.
fn stdio_program() -> Program {
    Program::new(&["stdio"]).env("ALLOWED_COMMANDS", puppet())
}

fn stdio() -> StdioClient {
    StdioClient::start(stdio_program().into_command(), Era::Modern)
}

/// A server behind either transport in either era, from a call of the program without its subcommand.
fn everywhere(program: impl Fn(&[&str]) -> Program) -> Vec<Box<dyn Client>> {
    let (stdio, http) = (|| program(&["stdio"]).into_command(), || program(&[]).into_command());
    vec![
        Box::new(StdioClient::start(stdio(), Era::Legacy)),
        Box::new(StdioClient::start(stdio(), Era::Modern)),
        Box::new(HttpClient::start(http(), Era::Legacy)),
        Box::new(HttpClient::start(http(), Era::Modern)),
    ]
}

/// The arguments that make `execute_process` run the puppet.
fn told(verbs: &[&str]) -> Value {
    json!({ "file": puppet(), "args": verbs })
}

/// Asserts that the server still works.
#[track_caller]
fn lives(client: &mut dyn Client) {
    let answer = client.call("execute_process", told(&["print", "alive"]));
    assert_eq!(crate::reply::Reply::read(&answer).stdout, "alive");
}
