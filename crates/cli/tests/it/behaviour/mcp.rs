//! The real program behind MCP.

use std::process::Command;

use runward_testkit::mcp::Client;
use rustix::process::Signal;
use serde_json::json;

use super::door::{Ask, CallId, Door, Setup};
use crate::program::Program;
use crate::reply::Reply;

struct Mcp<C>(C);

/// Starts the program with these arguments for a client.
pub(super) fn open<C: Client + 'static>(
    connect: impl FnOnce(Command) -> C,
    args: &[&str],
    setup: &Setup,
) -> Box<dyn Door> {
    // The suite is about what comes through a door, so replies show all that is kept.
    let program = Program::new(args)
        .env("ALLOWED_COMMANDS", &setup.allowed)
        .env("RUNWARD_PROCESS_BACKGROUND", "kill")
        .env("RUNWARD_SHELL_TOOL_REPLY_SIZE", "16MiB");
    Box::new(Mcp(connect(program.into_command())))
}

impl<C: Client> Door for Mcp<C> {
    fn begin(&mut self, ask: &Ask) -> CallId {
        let timeout_ms = u64::try_from(ask.timeout.as_millis()).unwrap();
        let mut arguments = json!({ "file": ask.file, "args": ask.args, "timeout_ms": timeout_ms });
        for (name, value) in [("cwd", &ask.cwd), ("input", &ask.input)] {
            if let Some(value) = value {
                arguments[name] = json!(value);
            }
        }
        CallId(self.0.begin("tools/call", json!({ "name": "execute_process", "arguments": arguments })))
    }

    fn finish(&mut self, call: CallId) -> Reply {
        Reply::read(&self.0.answer(call.0))
    }

    fn cancel(&mut self, call: CallId) {
        self.0.cancel(call.0);
    }

    fn vanish(&mut self, call: CallId) {
        self.0.vanish(call.0);
    }

    fn shut_down(&mut self) {
        self.0.server().signal(Signal::TERM);
        assert!(self.0.server().ended().success());
    }

    fn kill(&mut self) {
        self.0.server().signal(Signal::KILL);
        self.0.server().ended();
    }

    fn peak_memory_kib(&mut self) -> u64 {
        self.0.server().peak_memory_kib()
    }
}
