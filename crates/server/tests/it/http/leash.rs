//! Who asked must be there.

use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncReadExt;

use super::caller::{Answer, Ask, Running, settings, soon};

fn legacy_call(session: &str, tool: &str) -> Ask {
    Ask::legacy("tools/call", &json!({ "name": tool, "arguments": {} })).session(session)
}

#[tokio::test]
async fn a_legacy_call_hears_that_its_caller_has_gone() {
    let mut server = Running::with(&settings()).await;
    let session = server.initialize().await;
    let stream = server.open(&legacy_call(&session, "wait")).await;
    let call = server.call().await;
    assert!(!call.disconnected.is_cancelled());
    drop(stream);
    soon(call.disconnected.cancelled()).await;
}

#[tokio::test]
async fn a_modern_call_hears_that_its_caller_has_gone() {
    let mut server = Running::with(&settings()).await;
    let stream = server.open(&Ask::modern("wait")).await;
    let call = server.call().await;
    assert!(!call.disconnected.is_cancelled());
    drop(stream);
    soon(call.disconnected.cancelled()).await;
}

#[tokio::test]
async fn a_call_that_was_answered_never_hears_that_its_caller_has_gone() {
    let mut server = Running::with(&settings()).await;
    let session = server.initialize().await;
    for ask in [legacy_call(&session, "quick"), Ask::modern("quick")] {
        let answer = server.ask(&ask).await;
        assert!(answer.body.contains("done"), "{answer:?}");
        let call = server.call().await;
        // Its connection has been closed by the server, so nothing of the request is left.
        assert!(!call.disconnected.is_cancelled());
    }
}

#[tokio::test]
async fn one_caller_going_away_does_not_concern_another_in_its_session() {
    let mut server = Running::with(&settings()).await;
    let session = server.initialize().await;
    let first = server.open(&legacy_call(&session, "wait")).await;
    let first_call = server.call().await;
    let second = server.open(&legacy_call(&session, "wait").header("X-Second", "1")).await;
    let second_call = server.call().await;
    drop(first);
    soon(first_call.disconnected.cancelled()).await;
    assert!(!second_call.disconnected.is_cancelled());
    second_call.finish.cancel();
    assert!(Answer::read(second).await.body.contains("done"));
}

#[tokio::test]
async fn deleting_a_session_tells_its_calls_at_once() {
    let mut server = Running::with(&settings()).await;
    let session = server.initialize().await;
    let _stream = server.open(&legacy_call(&session, "wait")).await;
    let call = server.call().await;
    let answer = server.ask(&Ask::new("DELETE", "/mcp").session(&session)).await;
    assert!(answer.status < 300, "{answer:?}");
    soon(call.disconnected.cancelled()).await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_call_of_an_hour_is_not_cut_off() {
    let mut server = Running::with(&settings()).await;
    let session = server.initialize().await;
    let mut stream = server.open(&legacy_call(&session, "wait")).await;
    let call = server.call().await;

    tokio::time::sleep(Duration::from_hours(1)).await;
    assert!(!call.disconnected.is_cancelled());
    call.finish.cancel();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.contains("done"), "{answer}");
}
