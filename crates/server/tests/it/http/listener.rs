//! What the listener answers by itself, and how it ends.

use serde_json::json;
use tokio::io::AsyncReadExt;

use super::caller::{Answer, Ask, Running, settings, soon};

#[tokio::test]
async fn the_health_check_says_ok_and_which_version() {
    let server = Running::with(&settings()).await;
    let answer = server.ask(&Ask::get("/healthz")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json(), json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }));
}

#[tokio::test]
async fn an_unknown_path_or_method_is_answered_in_json() {
    let server = Running::with(&settings()).await;
    let unknown = server.ask(&Ask::get("/nothing")).await;
    assert_eq!((unknown.status, unknown.error_code()), (404, "not_found".into()));
    let method = server.ask(&Ask::post("/healthz").json(&json!({}))).await;
    assert_eq!((method.status, method.error_code()), (405, "method_not_allowed".into()));
    let method = server.ask(&Ask::new("PUT", "/mcp").body(b"")).await;
    assert_eq!((method.status, method.error_code()), (405, "method_not_allowed".into()));
    assert_eq!(method.header("allow"), Some("GET, POST, DELETE"));
}

#[tokio::test]
async fn what_is_not_json_is_a_parse_error_and_what_is_no_message_an_invalid_request() {
    let server = Running::with(&settings()).await;
    for (body, code) in [
        ("{\"jsonrpc\":", -32700),
        ("", -32700),
        ("hello", -32700),
        ("{}", -32600),
        ("[]", -32600),
        ("7", -32600),
        ("{\"method\":\"ping\"}", -32600),
    ] {
        let answer = server.ask(&Ask::post("/mcp").body(body.as_bytes())).await;
        assert_eq!((answer.status, answer.error_code()), (400, code.into()), "{body}");
        assert_eq!(answer.json()["jsonrpc"], "2.0");
    }
}

#[tokio::test]
async fn a_body_of_another_kind_is_still_an_unsupported_media_type() {
    let server = Running::with(&settings()).await;
    let ask = Ask::new("POST", "/mcp").header("Accept", "application/json, text/event-stream");
    let answer = server.ask(&ask.header("Content-Type", "text/plain").body(b"{}")).await;
    assert_eq!((answer.status, answer.error_code()), (415, "unsupported_media_type".into()));
}

#[tokio::test]
async fn a_stopped_listener_winds_down_and_ends_every_stream() {
    let server = Running::with(&settings()).await;
    let session = server.initialize().await;
    let mut stream =
        server.open(&Ask::get("/mcp").header("Accept", "text/event-stream").session(&session)).await;
    soon(stream.read_u8()).await.expect("the stream has begun");

    server.stop.cancel();
    soon(server.task).await.expect("no panic").expect("a good end");
    assert!(server.wound_down.is_cancelled());
    soon(stream.read_to_end(&mut Vec::new())).await.expect("the end of the stream");
}

#[tokio::test]
async fn a_caller_gets_its_last_answer_while_the_listener_stops() {
    let mut server = Running::with(&settings()).await;
    let stream = server.open(&Ask::modern("wait")).await;
    let call = server.call().await;
    server.stop.cancel();
    call.finish.cancel();
    let answer = Answer::read(stream).await;
    assert_eq!(answer.status, 200);
    assert!(answer.body.contains("done"));
    soon(server.task).await.expect("no panic").expect("a good end");
}
