//! Tools that need to know something from the client before they can answer.
//!
//! Before 2026-07-28 a tool sends a request to the client while its own call waits. Since then it gives its questions
//! as the result, and the client calls again with the answers and the state that came with the questions.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, InputRequests, InputRequiredResult, InputResponses,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::fixture::{Act, Fixture, read, text};

/// What is asked, round after round.
#[derive(Debug)]
pub(crate) struct Questions(Vec<Round>);

#[derive(Debug)]
struct Round {
    questions: Value,
    /// What the client has to send back with its answers.
    state: Option<&'static str>,
}

impl Questions {
    pub(crate) fn ask(
        &self,
        call: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answered = self.answered(call)?;
        match self.0.get(answered) {
            Some(round) => Ok(round.result(context)?.into()),
            None => Ok(text(format!("state-ok: {}", json!(call.input_responses)))),
        }
    }

    /// How many rounds the client has answered, by the state that it sent back.
    fn answered(&self, call: &CallToolRequestParams) -> Result<usize, ErrorData> {
        let state = call.request_state.as_deref();
        let begins = state.is_none() && call.input_responses.is_none();
        let asked = if begins { Some(0) } else { self.0.iter().position(|round| round.state == state) };
        let round = asked.and_then(|asked| self.0.get(asked)).zip(asked);
        let (round, asked) =
            round.ok_or_else(|| ErrorData::invalid_params("requestState is not one of ours", None))?;
        let complete = call.input_responses.as_ref().is_some_and(|answers| round.is_answered_by(answers));
        Ok(asked + usize::from(complete))
    }
}

impl Round {
    /// The questions that this client can be asked.
    fn result(&self, context: &RequestContext<RoleServer>) -> Result<InputRequiredResult, ErrorData> {
        let client = json!(context.client_capabilities());
        let mut questions: InputRequests = read(&self.questions)?;
        questions.retain(|_, question| !client[capability(&json!(question))].is_null());
        Ok(InputRequiredResult::new(Some(questions), self.state.map(Into::into)))
    }

    fn is_answered_by(&self, answers: &InputResponses) -> bool {
        let keys = self.questions.as_object().into_iter().flatten().map(|(key, _)| key);
        keys.into_iter().all(|key| answers.get(key).is_some_and(Value::is_object))
    }
}

/// What a client must have declared to be asked this.
fn capability(question: &Value) -> &str {
    question["method"].as_str().and_then(|method| method.split('/').next()).unwrap_or_default()
}

pub(crate) fn fixtures() -> Vec<Fixture> {
    vec![
        request("test_sampling", "prompt", sampling("")),
        request(
            "test_elicitation",
            "message",
            elicitation("", &json!({ "username": { "type": "string" }, "email": { "type": "string" } })),
        ),
        request("test_elicitation_sep1034_defaults", "message", elicitation("Please fill in", &defaults())),
        request("test_elicitation_sep1330_enums", "message", elicitation("Please choose", &enums())),
        ask("test_input_required_result_elicitation", [(json!({ "user_name": name() }), None)]),
        ask("test_streaming_elicitation", [(json!({ "user_name": name() }), None)]),
        ask(
            "test_input_required_result_sampling",
            [(json!({ "capital_question": sampling("What is the capital of France?") }), None)],
        ),
        ask("test_input_required_result_list_roots", [(json!({ "client_roots": roots() }), None)]),
        ask(
            "test_input_required_result_request_state",
            [(json!({ "confirm": confirm() }), Some("confirming"))],
        ),
        ask(
            "test_input_required_result_tampered_state",
            [(json!({ "confirm": confirm() }), Some("confirming"))],
        ),
        ask("test_input_required_result_multiple_inputs", [(everything(), Some("asking"))]),
        ask("test_input_required_result_capabilities", [(everything(), Some("asking"))]),
        ask(
            "test_input_required_result_multi_round",
            [
                (json!({ "step1": name() }), Some("first round")),
                (json!({ "step2": color() }), Some("second round")),
            ],
        ),
    ]
}

fn request(name: &'static str, argument: &str, request: Value) -> Fixture {
    let schema = json!({ "type": "object", "properties": { argument: { "type": "string" } } });
    Fixture { name, schema, act: Act::Request(request) }
}

fn ask<const ROUNDS: usize>(name: &'static str, rounds: [(Value, Option<&'static str>); ROUNDS]) -> Fixture {
    let rounds = rounds.into_iter().map(|(questions, state)| Round { questions, state });
    Fixture::new(name, Act::Ask(Questions(rounds.collect())))
}

fn elicitation(message: &str, properties: &Value) -> Value {
    let required: Vec<&String> = properties.as_object().into_iter().flatten().map(|(name, _)| name).collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "method": "elicitation/create", "params": { "mode": "form", "message": message, "requestedSchema": schema } })
}

fn sampling(prompt: &str) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": 100 } })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

fn name() -> Value {
    elicitation("What is your name?", &json!({ "name": { "type": "string" } }))
}

fn color() -> Value {
    elicitation("What is your favorite color?", &json!({ "color": { "type": "string" } }))
}

fn confirm() -> Value {
    elicitation("Please confirm", &json!({ "ok": { "type": "boolean" } }))
}

fn everything() -> Value {
    json!({ "user_name": name(), "greeting": sampling("Generate a greeting"), "client_roots": roots() })
}

fn defaults() -> Value {
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    })
}

fn enums() -> Value {
    let options = json!(["option1", "option2", "option3"]);
    let titled = json!([
        { "const": "value1", "title": "First" },
        { "const": "value2", "title": "Second" },
        { "const": "value3", "title": "Third" },
    ]);
    json!({
        "untitledSingle": { "type": "string", "enum": options },
        "titledSingle": { "type": "string", "oneOf": titled },
        "legacyEnum": { "type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"] },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled } },
    })
}
