//! `POST /check`.

use serde_json::json;
use sha2::{Digest, Sha256};

use super::server::Raw;

#[test]
fn the_verdict_the_file_and_its_hash_are_told_and_nothing_runs() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("made");
    let raw = Raw::allowing("touch");
    let answer = raw.post("/check", &json!({"executable": "touch", "args": [file.to_str().unwrap()]}));
    assert_eq!(answer.status, 200);
    let checked = answer.json();
    let path = std::fs::canonicalize("/usr/bin/touch").unwrap();
    let hash = Sha256::digest(std::fs::read(&path).unwrap());
    let digits = super::server::hexadecimal(&hash);
    assert_eq!((&checked["allowed"], &checked["decision"]), (&json!(true), &json!("allow")));
    assert_eq!((&checked["path"], &checked["hash"]), (&json!("/usr/bin/touch"), &json!(digits)));
    assert!(!file.exists());
}

#[test]
fn a_denial_is_an_answer_and_a_missing_program_a_refusal() {
    let raw = Raw::allowing("ls");
    let denied = raw.post("/check", &json!({"executable": "touch"}));
    assert_eq!(denied.status, 200);
    let denied = denied.json();
    assert_eq!((&denied["allowed"], &denied["decision"]), (&json!(false), &json!("deny")));
    assert!(denied["reason"].as_str().unwrap().starts_with("command \"touch\" is not allowed"), "{denied}");
    let missing = Raw::allowing("*").post("/check", &json!({"executable": "whoamj"}));
    assert_eq!(missing.refusal(), (404, "program_not_found".to_owned()));
    assert_eq!(raw.post("/check", &json!({"executable": 1})).refusal().0, 400);
}
