//! Clients of MCP that send exactly what they are told to, over either transport and in either era.

mod http;
mod person;
mod stdio;

pub use http::{Answer, HttpClient};
pub use person::Person;
pub use stdio::StdioClient;

use serde_json::{Value, json};

use crate::TestServer;

/// How a conversation begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// With `initialize`, as of 2025-11-25.
    Legacy,
    /// Every request speaks for itself, as of 2026-07-28.
    Modern,
}

/// A client and the server that it started.
pub trait Client {
    /// Sends a request and gives its id.
    fn begin(&mut self, method: &str, params: Value) -> u64;

    /// Waits for everything that belongs to a request: notifications, and its answer last.
    fn messages(&mut self, id: u64) -> Vec<Value>;

    /// Takes a request back, in the way of this era and transport.
    fn cancel(&mut self, id: u64);

    /// Goes away in the middle of a request.
    fn vanish(&mut self, id: u64);

    /// The next request that the server makes of the client while this call is open.
    fn asked(&mut self, id: u64) -> Value;

    /// Answers a request of the server.
    fn respond(&mut self, answer: &Value);

    /// The server.
    fn server(&mut self) -> &mut TestServer;

    /// Waits for the answer to a request.
    fn answer(&mut self, id: u64) -> Value {
        self.messages(id).pop().expect("an answer")
    }

    /// Asks and waits.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Calls a tool and waits.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }
}

/// A request as either era wants it.
pub fn request(era: Era, id: u64, method: &str, mut params: Value) -> Value {
    if era == Era::Modern {
        let meta = &mut params["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        meta["io.modelcontextprotocol/clientInfo"] = client_info();
        let capabilities = &mut meta["io.modelcontextprotocol/clientCapabilities"];
        if capabilities.is_null() {
            *capabilities = json!({});
        }
    }
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn cancellation(id: u64) -> Value {
    notification("notifications/cancelled", &json!({ "requestId": id, "reason": "no longer wanted" }))
}

fn initialize(capabilities: &Value) -> Value {
    json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client_info() })
}

fn client_info() -> Value {
    json!({ "name": "testkit", "version": "1" })
}

fn is_answer(message: &Value) -> bool {
    message.get("result").is_some() || message.get("error").is_some()
}
