//! A client whose user is shown forms and fills them in.

use std::collections::HashMap;
use std::process::Command;

use serde_json::{Value, json};

use super::{Client, Era, HttpClient, StdioClient};

/// What the questions of this server are called.
const KEY: &str = "approval";

/// A client whose user is shown forms and fills them in, or does not.
pub struct Person {
    client: Box<dyn Client>,
    era: Era,
    calls: HashMap<u64, Value>,
    asked: HashMap<u64, Value>,
}

impl Person {
    /// On the standard streams of the server.
    pub fn stdio(command: Command, era: Era) -> Self {
        Person::new(Box::new(StdioClient::start_able(command, era, &forms())), era)
    }

    /// Over HTTP.
    pub fn http(command: Command, era: Era) -> Self {
        Person::new(Box::new(HttpClient::start_able(command, era, &forms())), era)
    }

    fn new(client: Box<dyn Client>, era: Era) -> Self {
        Person { client, era, calls: HashMap::new(), asked: HashMap::new() }
    }

    /// The client itself.
    pub fn client(&mut self) -> &mut dyn Client {
        self.client.as_mut()
    }

    /// Calls a tool and does not wait.
    pub fn begin(&mut self, tool: &str, arguments: &Value) -> u64 {
        let call = json!({ "name": tool, "arguments": arguments });
        let id = self.client.begin("tools/call", self.able(call.clone()));
        self.calls.insert(id, call);
        id
    }

    /// The form that the user is shown: its message and its schema.
    pub fn form(&mut self, call: u64) -> Value {
        let (asked, form) = match self.era {
            Era::Legacy => {
                let request = self.client.asked(call);
                (request["id"].clone(), request.clone())
            }
            Era::Modern => {
                let answer = self.client.answer(call);
                let result = &answer["result"];
                assert_eq!(result["resultType"], "input_required", "{answer}");
                (result["requestState"].clone(), result["inputRequests"][KEY].clone())
            }
        };
        assert_eq!(form["method"], "elicitation/create", "{form}");
        self.asked.insert(call, asked);
        form["params"].clone()
    }

    /// Sends the form back, and gives the call that is answered now.
    pub fn submit(&mut self, call: u64, result: &Value) -> u64 {
        let asked = self.asked.get(&call).expect("a form that was shown").clone();
        match self.era {
            Era::Legacy => {
                self.client.respond(&json!({ "jsonrpc": "2.0", "id": asked, "result": result }));
                call
            }
            Era::Modern => {
                let mut params = self.calls[&call].clone();
                params["requestState"] = asked;
                params["inputResponses"] = json!({ KEY: result });
                let params = self.able(params);
                self.client.begin("tools/call", params)
            }
        }
    }

    /// Chooses one of the form's answers and waits for the reply.
    pub fn decide(&mut self, call: u64, decision: &str) -> Value {
        let result = json!({ "action": "accept", "content": { "decision": decision } });
        let call = self.submit(call, &result);
        self.reply(call)
    }

    /// The reply to a call.
    pub fn reply(&mut self, call: u64) -> Value {
        let answer = self.client.answer(call);
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    fn able(&self, mut params: Value) -> Value {
        if self.era == Era::Modern {
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = forms();
        }
        params
    }
}

fn forms() -> Value {
    json!({ "elicitation": { "form": {} } })
}
