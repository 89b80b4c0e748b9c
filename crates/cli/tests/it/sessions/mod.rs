//! `exec_command`, `write_stdin` and the tools beside them, as a client meets them.

mod ending;
mod interactive;
mod keeping;
mod left_behind;
mod replies;
mod services;

use runward_testkit::mcp::{Client, Era, StdioClient};
use serde_json::{Value, json};

use crate::program::Program;

/// A client of a server where everything is allowed.
fn client() -> StdioClient {
    client_with(&[])
}

/// The same with further variables.
fn client_with(variables: &[(&str, &str)]) -> StdioClient {
    let mut program = Program::new(&["stdio"]).env("ALLOWED_COMMANDS", "*");
    for (name, value) in variables {
        program = program.env(name, value);
    }
    StdioClient::start(program.into_command(), Era::Modern)
}

/// What a call came to.
#[derive(Debug)]
struct Reply(Value);

impl Reply {
    #[track_caller]
    fn of(answer: &Value) -> Self {
        Reply(answer.get("result").unwrap_or_else(|| panic!("not a result: {answer}")).clone())
    }

    fn text(&self) -> &str {
        self.0["content"][0]["text"].as_str().unwrap_or_default()
    }

    fn note(&self) -> &str {
        self.0["content"][1]["text"].as_str().unwrap_or_default()
    }

    fn is_error(&self) -> bool {
        self.0["isError"] == json!(true)
    }

    fn field(&self, name: &str) -> &Value {
        &self.0["structuredContent"][name]
    }

    #[track_caller]
    fn output(&self) -> &str {
        self.field("output").as_str().unwrap_or_else(|| panic!("no output: {}", self.0))
    }

    #[track_caller]
    fn session(&self) -> u64 {
        self.field("session_id").as_u64().unwrap_or_else(|| panic!("it does not go on: {}", self.0))
    }

    #[track_caller]
    fn exit_code(&self) -> i64 {
        self.field("exit_code").as_i64().unwrap_or_else(|| panic!("it goes on: {}", self.0))
    }
}

/// Starts a command without a login shell.
fn exec(client: &mut dyn Client, mut arguments: Value) -> Reply {
    if arguments["login"].is_null() {
        arguments["login"] = json!(false);
    }
    Reply::of(&client.call("exec_command", arguments))
}

fn write(client: &mut dyn Client, arguments: Value) -> Reply {
    Reply::of(&client.call("write_stdin", arguments))
}

/// Goes on with a session until it has ended; everything that it printed meanwhile.
fn to_the_end(client: &mut dyn Client, session: u64) -> (String, Reply) {
    let mut printed = String::new();
    loop {
        let reply = write(client, json!({ "session_id": session }));
        printed.push_str(reply.output());
        if reply.field("session_id").is_null() {
            return (printed, reply);
        }
    }
}
