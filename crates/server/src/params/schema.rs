//! What is advertised of a tool's parameters.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::{Kind, Need, Param};

/// The JSON Schema of a tool's arguments.
pub(crate) fn input_schema(params: &[Param]) -> JsonObject {
    let properties: JsonObject =
        params.iter().map(|param| (param.name.to_owned(), Value::Object(property(param)))).collect();
    let required: Vec<_> =
        params.iter().filter(|param| param.need == Need::Required).map(|param| param.name).collect();
    JsonObject::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(properties)),
        ("required".to_owned(), json!(required)),
        ("additionalProperties".to_owned(), json!(false)),
    ])
}

fn property(param: &Param) -> JsonObject {
    let mut property = match param.kind {
        Kind::Text => rmcp::object!({ "type": "string" }),
        Kind::Word => rmcp::object!({ "type": "string", "minLength": 1 }),
        Kind::TextList => rmcp::object!({ "type": "array", "items": { "type": "string" }, "default": [] }),
        Kind::TextMap => {
            rmcp::object!({ "type": "object", "additionalProperties": { "type": "string" } })
        }
        Kind::Choice(words) => {
            rmcp::object!({ "type": "string", "enum": words, "default": words.first() })
        }
        Kind::OneOf(words) => rmcp::object!({ "type": "string", "enum": words }),
        Kind::Switch => rmcp::object!({ "type": "boolean" }),
        Kind::SwitchOn => rmcp::object!({ "type": "boolean", "default": true }),
        Kind::Size => rmcp::object!({
            "type": "object",
            "properties": { "rows": { "type": "integer" }, "cols": { "type": "integer" } },
        }),
        Kind::Whole { default } => rmcp::object!({ "type": "integer", "minimum": 0, "default": default }),
        Kind::ExitOf => rmcp::object!({
            "type": "object",
            "properties": { "output_id": { "type": "string" }, "exit_code": { "type": "integer" } },
        }),
        Kind::Integer { min, max, default } => {
            rmcp::object!({ "type": "integer", "minimum": min, "maximum": max, "default": default })
        }
    };
    property.insert("description".to_owned(), json!(param.description));
    property
}
