//! Tools that show what a result can hold, and what a schema can say.

use serde_json::{Value, json};

use crate::fixture::{Act, Fixture};

/// One red pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// No samples at 8 kHz.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

pub(crate) fn fixtures() -> Vec<Fixture> {
    vec![
        answer("test_simple_text", &[simple_text("This is a simple text response for testing.")]),
        answer("test_image_content", &[image()]),
        answer("test_audio_content", &[json!({ "type": "audio", "data": WAV, "mimeType": "audio/wav" })]),
        answer(
            "test_embedded_resource",
            &[resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
        ),
        answer(
            "test_multiple_content_types",
            &[
                simple_text("Multiple content types test:"),
                image(),
                resource(
                    "test://mixed-content-resource",
                    "application/json",
                    r#"{"test":"data","value":123}"#,
                ),
            ],
        ),
        answer("test_logging_tool", &[simple_text("Nothing is logged to clients.")]),
        failure(),
        Fixture::new("test_tool_with_progress", Act::Progress),
        Fixture::new("test_missing_capability", Act::Require(json!({ "sampling": {} }))),
        with_header(),
        with_every_keyword(),
    ]
}

fn answer(name: &'static str, content: &[Value]) -> Fixture {
    Fixture::new(name, Act::Answer(json!({ "resultType": "complete", "content": content })))
}

fn failure() -> Fixture {
    let content = [simple_text("This tool intentionally returns an error for testing")];
    Fixture::new(
        "test_error_handling",
        Act::Answer(json!({ "resultType": "complete", "content": content, "isError": true })),
    )
}

/// An argument that clients repeat in an HTTP header.
fn with_header() -> Fixture {
    let region = json!({ "type": "string", "x-mcp-header": "Region" });
    Fixture {
        schema: json!({ "type": "object", "properties": { "region": region } }),
        ..answer("test_custom_headers", &[simple_text("The header and the argument agree.")])
    }
}

/// The keywords that a schema must keep on its way to the client.
fn with_every_keyword() -> Fixture {
    let text = json!({ "type": "string" });
    let address =
        json!({ "$anchor": "addressDef", "type": "object", "properties": { "street": text, "city": text } });
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": address },
        "properties": {
            "name": text,
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": text,
            "email": text,
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    });
    Fixture { schema, ..answer("json_schema_2020_12_tool", &[simple_text("The schema is what matters.")]) }
}

fn simple_text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn image() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

fn resource(uri: &str, kind: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": kind, "text": text } })
}
