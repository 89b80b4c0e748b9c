//! Legacy sessions.

use serde_json::json;

use super::caller::{Ask, Running, settings};

#[tokio::test]
async fn a_session_lasts_until_it_is_deleted() {
    let server = Running::with(&settings()).await;
    let session = server.initialize().await;
    let list = Ask::legacy("tools/list", &json!({})).session(&session);
    assert_eq!(server.ask(&list).await.status, 200);
    assert!(server.ask(&Ask::new("DELETE", "/mcp").session(&session)).await.status < 300);
    let gone = server.ask(&list).await;
    assert_eq!((gone.status, gone.error_code()), (404, "not_found".into()));
}

#[tokio::test]
async fn a_session_that_never_was_is_not_found() {
    let server = Running::with(&settings()).await;
    let answer = server.ask(&Ask::legacy("tools/list", &json!({})).session("made-up")).await;
    assert_eq!((answer.status, answer.error_code()), (404, "not_found".into()));
}

#[tokio::test]
async fn a_legacy_request_without_a_session_is_told_so() {
    let server = Running::with(&settings()).await;
    let answer = server.ask(&Ask::legacy("tools/list", &json!({}))).await;
    assert_eq!((answer.status, answer.error_code()), (400, "bad_request".into()));
}
