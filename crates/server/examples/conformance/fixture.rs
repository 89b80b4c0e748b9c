//! A tool of the suite: its name, its schema, and what it does when called.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock, JsonObject,
    ProgressNotificationParam, ServerRequest, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::questions::Questions;

/// A tool of the suite.
#[derive(Debug)]
pub(crate) struct Fixture {
    pub(crate) name: &'static str,
    pub(crate) schema: Value,
    pub(crate) act: Act,
}

/// What a tool of the suite does when called.
#[derive(Debug)]
pub(crate) enum Act {
    /// Gives this result.
    Answer(Value),
    /// Reports progress three times.
    Progress,
    /// Sends this request to the client and gives back what it says: the way before 2026-07-28.
    Request(Value),
    /// Gives questions instead of a result until they are answered: the way since 2026-07-28.
    Ask(Questions),
    /// Works only with clients that can do this.
    Require(Value),
}

impl Fixture {
    /// A tool without arguments.
    pub(crate) fn new(name: &'static str, act: Act) -> Self {
        Fixture { name, schema: json!({ "type": "object", "properties": {} }), act }
    }

    pub(crate) fn tool(&self) -> Tool {
        let schema: JsonObject = self.schema.as_object().cloned().unwrap_or_default();
        Tool::new(self.name, "Called by the conformance suite.", Arc::new(schema))
    }
}

impl Act {
    pub(crate) async fn perform(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self {
            Act::Answer(result) => Ok(read::<CallToolResult>(result)?.into()),
            Act::Progress => report(&context).await,
            Act::Request(request) => relay(request, &call, &context).await,
            Act::Ask(questions) => questions.ask(&call, &context),
            Act::Require(capabilities) => {
                let required: ClientCapabilities = read(capabilities)?;
                Err(ErrorData::missing_required_client_capability(required))
            }
        }
    }
}

/// A result of one text.
pub(crate) fn text(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

/// The tables of this module are JSON, as the suite's own descriptions are.
pub(crate) fn read<T: DeserializeOwned>(value: &Value) -> Result<T, ErrorData> {
    serde_json::from_value(value.clone()).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

async fn report(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let Some(token) = context.meta.get_progress_token() else { return Ok(text("nobody asked for progress")) };
    for progress in [0.0, 50.0, 100.0] {
        let progress = ProgressNotificationParam::new(token.clone(), progress).with_total(100.0);
        context
            .peer
            .notify_progress(progress)
            .await
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    }
    Ok(text("reported progress"))
}

async fn relay(
    request: &Value,
    call: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let argument = |name| call.arguments.as_ref().and_then(|arguments| arguments.get(name)).cloned();
    let mut request = request.clone();
    if let Some(message) = argument("message") {
        request["params"]["message"] = message;
    }
    if let Some(prompt) = argument("prompt") {
        request["params"]["messages"][0]["content"]["text"] = prompt;
    }
    let request: ServerRequest = read(&request)?;
    let said = context.peer.send_request(request).await;
    let said = said.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(text(format!("the client said {}", json!(said))))
}
