//! What the caller is told.

use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::Value;

use crate::approvals;

/// Where the receipt of a tool without structured content stands in its result's `_meta`.
const POLICY: &str = "runward/policy";

/// What the caller is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    is_error: bool,
    texts: Vec<String>,
    structured: Option<Value>,
    policy: Option<Value>,
    asked: Option<Asked>,
}

/// What the client is asked before there is anything to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    questions: Value,
    state: String,
}

impl Reply {
    /// It went as the tool promises.
    pub(crate) fn ran(text: impl Into<String>) -> Self {
        Reply { is_error: false, texts: vec![text.into()], structured: None, policy: None, asked: None }
    }

    /// It did not, and this says why.
    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Reply { is_error: true, ..Reply::ran(text) }
    }

    /// There is nothing to tell yet: the client is asked first, and calls again with this state.
    pub(crate) fn asks(questions: Value, state: String) -> Self {
        Reply { asked: Some(Asked { questions, state }), ..Reply::ran("") }
    }

    /// As the protocol has it.
    pub(crate) fn into_response(self) -> Result<CallToolResponse, ErrorData> {
        match self.asked {
            Some(Asked { questions, state }) => Ok(approvals::input_required(questions, state)?.into()),
            None => Ok(CallToolResult::from(self).into()),
        }
    }

    /// The same as no error.
    pub(crate) fn harmless(mut self) -> Self {
        self.is_error = false;
        self
    }

    /// With another text after those that there are.
    pub(crate) fn and(mut self, text: impl Into<String>) -> Self {
        self.texts.push(text.into());
        self
    }

    /// With the same for programs, as the tool's output schema has it.
    pub(crate) fn structured(mut self, fields: JsonObject) -> Self {
        self.structured = Some(Value::Object(fields));
        self
    }

    /// With a receipt beside the content, for tools that have no output schema.
    pub(crate) fn receipt(mut self, policy: Value) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Whether a client is told of an error.
    #[cfg(test)]
    pub(crate) fn is_error(&self) -> bool {
        self.is_error
    }
}

impl From<Reply> for CallToolResult {
    fn from(reply: Reply) -> Self {
        let content = reply.texts.into_iter().map(ContentBlock::text).collect();
        let mut result =
            if reply.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
        result.structured_content = reply.structured;
        result.meta =
            reply.policy.map(|policy| MetaObject(JsonObject::from_iter([(POLICY.to_owned(), policy)])));
        result
    }
}
