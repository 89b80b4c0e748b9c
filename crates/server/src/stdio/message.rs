//! What a line says: a message for the protocol library, something to answer here, or nothing.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use rmcp::model::ClientJsonRpcMessage;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};

use crate::json;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

/// What a line says.
#[derive(Debug)]
pub(super) enum Read {
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// None, which this answers.
    Answer(Value),
    /// Nothing that wants an answer.
    Nothing,
}

/// Reads a line.
pub(super) fn read(line: &[u8]) -> Read {
    let line = line.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Read::Nothing;
    }
    if let Some(fault) = json::fault(line) {
        return refuse_faulty(line, &fault);
    }
    match serde_json::from_slice(line) {
        Ok(message) => Read::Message(Box::new(message)),
        Err(reason) => explain(line, &reason.to_string()),
    }
}

/// The answer to a line that is over the limit, from its start and its end.
pub(super) fn too_long(start: &[u8], end: &[u8], limit: usize) -> Value {
    let id = id_in_start(start).or_else(|| id_in_end(end)).unwrap_or(Value::Null);
    refusal(&id, INVALID_REQUEST, &format!("the message is longer than the limit of {limit} bytes a line"))
}

/// The answer to a request whose id another request still has.
pub(super) fn id_in_use(id: &Value) -> Value {
    refusal(id, INVALID_REQUEST, &format!("a request with the id {id} is still being worked on"))
}

/// A notification wants no answer, whatever is wrong with it.
fn refuse_faulty(line: &[u8], fault: &str) -> Read {
    let Some(id) = id_in_start(line) else {
        tracing::warn!(fault, "ignored a message without an id");
        return Read::Nothing;
    };
    Read::Answer(refusal(&id, INVALID_REQUEST, &format!("in the message {fault}")))
}

fn explain(line: &[u8], reason: &str) -> Read {
    let value = match serde_json::from_slice::<Value>(line) {
        Ok(value) => value,
        Err(error) => {
            let id = id_despite_bad_text(line);
            return Read::Answer(refusal(&id, PARSE_ERROR, &format!("the line is not JSON: {error}")));
        }
    };
    if let Value::Array(items) = &value {
        return Read::Answer(refuse_batch(items));
    }
    let is_notification = value.get("id").is_none() && value.get("method").is_some_and(Value::is_string);
    if is_notification {
        tracing::debug!(reason, "ignored a notification");
        return Read::Nothing;
    }
    Read::Answer(refusal(&id_of(&value), INVALID_REQUEST, &format!("not a JSON-RPC 2.0 message: {reason}")))
}

/// One refusal for every request in a batch, and a single one when it holds none.
fn refuse_batch(items: &[Value]) -> Value {
    const WHY: &str = "batches are not part of the protocol; send one message a line";
    let refusals: Vec<_> = items
        .iter()
        .filter(|item| item.get("id").is_some())
        .map(|item| refusal(&id_of(item), INVALID_REQUEST, WHY))
        .collect();
    if refusals.is_empty() { refusal(&Value::Null, INVALID_REQUEST, WHY) } else { Value::Array(refusals) }
}

fn refusal(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// The id to answer to: the message's own when it is one that JSON-RPC knows, else null.
fn id_of(message: &Value) -> Value {
    message.get("id").filter(|id| is_id(id)).cloned().unwrap_or(Value::Null)
}

fn is_id(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

/// The id of a message that is JSON but for bytes that are no UTF-8; its sender waits for it.
fn id_despite_bad_text(line: &[u8]) -> Value {
    serde_json::from_str(&String::from_utf8_lossy(line)).map_or(Value::Null, |message| id_of(&message))
}

/// The `id` of an object of which only the start is there.
fn id_in_start(start: &[u8]) -> Option<Value> {
    let mut found = None;
    // The error is the missing end; whatever came before it is found.
    let _ = serde_json::Deserializer::from_slice(start).deserialize_map(FindId(&mut found));
    found
}

/// The `id` of an object of which only the end is there: what follows it must close exactly one object.
fn id_in_end(end: &[u8]) -> Option<Value> {
    let at = memmem::rfind(end, b"\"id\"")?;
    let object = [b"{", end.get(at..)?].concat();
    let object: Value = serde_json::from_slice(&object).ok()?;
    object.get("id").filter(|id| is_id(id)).cloned()
}

struct FindId<'a>(&'a mut Option<Value>);

impl<'de> Visitor<'de> for FindId<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            if key == "id" {
                *self.0 = Some(map.next_value::<Value>()?).filter(is_id);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(line: &str) -> Value {
        match read(line.as_bytes()) {
            Read::Answer(answer) => answer,
            other => panic!("{line} gave {other:?}"),
        }
    }

    fn code_and_id(answer: &Value) -> (i64, Value) {
        (answer["error"]["code"].as_i64().expect("a code"), answer["id"].clone())
    }

    #[test]
    fn what_is_no_message_is_answered_with_the_id_that_it_has() {
        let cases = [
            ("{not json", -32700, json!(null)),
            ("\u{1}", -32700, json!(null)),
            ("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"", -32700, json!(null)),
            ("42", -32600, json!(null)),
            ("{}", -32600, json!(null)),
            ("{\"foo\":1}", -32600, json!(null)),
            ("{\"id\":7}", -32600, json!(7)),
            ("{\"jsonrpc\":\"1.0\",\"id\":\"a\",\"method\":\"ping\"}", -32600, json!("a")),
            ("{\"id\":7,\"method\":\"ping\"}", -32600, json!(7)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600, json!(1.5)),
            ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, json!(null)),
            ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600, json!(null)),
            ("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":5}", -32600, json!(3)),
            ("[]", -32600, json!(null)),
        ];
        for (line, code, id) in cases {
            assert_eq!(code_and_id(&answer(line)), (code, id), "{line}");
        }
    }

    #[test]
    fn a_request_with_bytes_that_are_no_text_is_refused_by_its_id() {
        let Read::Answer(answer) = read(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\"}") else {
            panic!("it wants an answer")
        };
        assert_eq!(code_and_id(&answer), (-32700, json!(7)));
    }

    #[test]
    fn every_request_of_a_batch_is_refused_by_its_id() {
        let answer = answer(
            "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"method\":\"n\"},\
             {\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"ping\"}]",
        );
        let ids: Vec<_> = answer.as_array().expect("several").iter().map(code_and_id).collect();
        assert_eq!(ids, [(-32600, json!(1)), (-32600, json!("b"))]);
    }

    #[test]
    fn messages_are_read_and_silence_is_kept_about_the_rest() {
        let request = "\u{FEFF}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r";
        assert!(matches!(read(request.as_bytes()), Read::Message(_)));
        for line in ["", " ", "\r"] {
            assert!(matches!(read(line.as_bytes()), Read::Nothing), "{line:?}");
        }
        assert!(matches!(read(b"{\"jsonrpc\":\"1.0\",\"method\":\"whatever\"}"), Read::Nothing));
    }

    #[test]
    fn an_over_long_line_is_answered_with_its_id_wherever_that_stands() {
        let id = |start: &str, end: &str| too_long(start.as_bytes(), end.as_bytes(), 8)["id"].clone();
        assert_eq!(id("{\"id\":3,\"x\":\"aaa", "aaa\"}"), json!(3));
        assert_eq!(id("{\"x\":{\"id\":4,\"y\":\"aaa", "aaa\"}}"), json!(null));
        assert_eq!(id("{\"x\":\"aaa", "aaa\"},\"jsonrpc\":\"2.0\",\"id\":5}"), json!(5));
        assert_eq!(id("{\"x\":\"aaa", "aaa\",\"id\":\"s\",\"jsonrpc\":\"2.0\"}\r"), json!("s"));
        assert_eq!(id("{\"x\":{\"y\":\"aaa", "aaa\",\"id\":6}}"), json!(null));
        assert_eq!(id("aaaa", "aaaa"), json!(null));
    }
}
