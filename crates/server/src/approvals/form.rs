//! The form that a client puts before its user, and how it is read.

use rmcp::ErrorData;
use rmcp::model::{InputRequests, InputRequiredResult};
use runward_model::{Answer, Question};
use serde_json::{Value, json};

use super::text::told;

/// What the question is called among those that a result asks.
pub(crate) const KEY: &str = "approval";

const ONCE: &str = "approve once";
const SESSION: &str = "approve for this session";
const ALWAYS: &str = "always allow this prefix";
const DENY: &str = "deny";

/// The request that asks.
pub(super) fn request(question: &Question) -> Value {
    let always = question.prefix.is_some().then_some(ALWAYS);
    let choices: Vec<&str> = [ONCE, SESSION].into_iter().chain(always).chain([DENY]).collect();
    let properties = json!({
        "decision": { "type": "string", "title": "Decision", "enum": choices },
        "note": { "type": "string", "title": "Note", "description": "What the caller is told, for a denial" },
    });
    let schema = json!({ "type": "object", "properties": properties, "required": ["decision"] });
    let message = format!("May this run?\n\n{}", told(question));
    json!({
        "method": "elicitation/create",
        "params": { "mode": "form", "message": message, "requestedSchema": schema },
    })
}

/// The same among the questions of a result, for clients that call again with the answer.
pub(crate) fn asked(question: &Question) -> Value {
    json!({ KEY: request(question) })
}

/// Questions as the result that asks them.
pub(crate) fn input_required(questions: Value, state: String) -> Result<InputRequiredResult, ErrorData> {
    let requests: InputRequests = serde_json::from_value(questions)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(InputRequiredResult::new(Some(requests), Some(state)))
}

/// What the user said; an error says why that is no answer.
pub(crate) fn read(result: &Value) -> Result<Answer, String> {
    let content = &result["content"];
    let note = content["note"].as_str().map(str::trim).filter(|note| !note.is_empty()).map(str::to_owned);
    match result["action"].as_str() {
        Some("accept") => match content["decision"].as_str() {
            Some(ONCE) => Ok(Answer::ApproveOnce),
            Some(SESSION) => Ok(Answer::ApproveForSession),
            Some(ALWAYS) => Ok(Answer::AlwaysAllowPrefix),
            Some(DENY) => Ok(Answer::Deny { note }),
            _ => Err("the client's form came back without a decision that was on it".into()),
        },
        Some("decline") => Ok(Answer::Deny { note }),
        Some("cancel") => Ok(Answer::Deny { note: Some("the form was closed without an answer".into()) }),
        _ => Err("the client did not answer with a form".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approvals::text::sample;

    #[test]
    fn the_form_offers_a_prefix_only_where_there_is_one() {
        let choices = |question: &Question| {
            request(question)["params"]["requestedSchema"]["properties"]["decision"]["enum"].clone()
        };
        assert_eq!(choices(&sample()), json!([ONCE, SESSION, ALWAYS, DENY]));
        assert_eq!(choices(&Question { prefix: None, ..sample() }), json!([ONCE, SESSION, DENY]));
    }

    #[test]
    fn the_form_has_the_shape_that_the_protocol_gives_it() {
        let result = input_required(asked(&sample()), "state".into()).expect("a result");
        let shown = json!(result);
        assert_eq!(shown["requestState"], "state");
        assert_eq!(shown["inputRequests"][KEY]["method"], "elicitation/create");
        let message = shown["inputRequests"][KEY]["params"]["message"].as_str().expect("a message");
        assert!(message.contains("git push") && message.contains("directory: /srv"), "{message}");
    }

    #[test]
    fn every_answer_is_read_and_nothing_else_approves() {
        let accept = |decision: &str| {
            read(&json!({ "action": "accept", "content": { "decision": decision, "note": " " } }))
        };
        assert_eq!(accept(ONCE), Ok(Answer::ApproveOnce));
        assert_eq!(accept(SESSION), Ok(Answer::ApproveForSession));
        assert_eq!(accept(ALWAYS), Ok(Answer::AlwaysAllowPrefix));
        assert_eq!(accept(DENY), Ok(Answer::Deny { note: None }));
        let noted = json!({ "action": "accept", "content": { "decision": DENY, "note": "not now" } });
        assert_eq!(read(&noted), Ok(Answer::Deny { note: Some("not now".into()) }));
        assert_eq!(read(&json!({ "action": "decline" })), Ok(Answer::Deny { note: None }));
        assert!(matches!(read(&json!({ "action": "cancel" })), Ok(Answer::Deny { note: Some(_) })));
        for odd in
            [json!(null), json!({}), json!({ "action": "accept" }), json!({ "action": "yes" }), json!([1])]
        {
            assert!(read(&odd).is_err(), "{odd}");
        }
        assert!(accept("Approve Once").is_err());
        assert!(read(&json!({ "action": "accept", "content": { "decision": true } })).is_err());
    }
}
