//! What never runs is a plain status with a reason.

use serde_json::json;

use super::server::{Raw, puppet_with};

#[test]
fn a_body_that_makes_no_sense_is_400() {
    let raw = Raw::allowing("*");
    for body in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"executable":7}"#,
        r#"{"executable":""}"#,
        r#"{"executable":"ls","args":"-l"}"#,
        r#"{"executable":"ls","command":"x"}"#,
        r#"{"executable":"ls","env":{"A":1}}"#,
        r#"{"executable":"a\u0000b"}"#,
        r#"{"executable":"ls","stdin":"maybe"}"#,
        r#"{"executable":"ls","tty":{"rows":1}}"#,
    ] {
        let answer = raw.send("POST", "/raw", &[], body.as_bytes());
        assert_eq!(answer.refusal(), (400, "bad_request".to_owned()), "{body}");
    }
}

#[test]
fn a_directory_that_is_none_is_400() {
    let raw = Raw::allowing("*");
    for cwd in ["/no/such/place", "/etc/passwd"] {
        let answer = raw.post("/raw", &json!({"executable": "ls", "cwd": cwd}));
        assert_eq!(answer.refusal(), (400, "bad_cwd".to_owned()), "{cwd}");
    }
}

#[test]
fn what_the_rules_do_not_allow_is_403_with_the_reason() {
    let answer = Raw::allowing("ls, cat").post("/raw", &json!({"executable": "whoami"}));
    assert_eq!(answer.status, 403);
    let body = answer.json();
    let reason =
        "command \"whoami\" is not allowed; allowed commands: ls, cat (set ALLOWED_COMMANDS to change this)";
    assert_eq!(body, json!({"error": {"code": "denied", "message": reason}}));
    let roots = Raw::with(&[("ALLOWED_COMMANDS", "*"), ("ALLOWED_CWD_ROOTS", "/usr")]);
    let answer = roots.post("/raw", &json!({"executable": "ls", "cwd": "/etc"}));
    assert_eq!(answer.refusal(), (403, "denied".to_owned()));
    let variable = Raw::allowing("*").post("/raw", &json!({"executable": "ls", "env": {"LD_PRELOAD": "x"}}));
    assert_eq!(variable.refusal(), (403, "denied".to_owned()));
}

#[test]
fn a_program_that_is_nowhere_is_404() {
    let raw = Raw::allowing("*");
    for program in ["whoamj", "/no/such/program"] {
        let answer = raw.post("/raw", &json!({"executable": program}));
        assert_eq!(answer.refusal(), (404, "program_not_found".to_owned()), "{program}");
    }
}

#[test]
fn a_body_that_is_too_large_is_413() {
    let raw = Raw::with(&[("ALLOWED_COMMANDS", "*"), ("RUNWARD_HTTP_MAX_BODY", "1KiB")]);
    let answer = raw.post("/raw", &json!({"executable": "ls", "args": ["x".repeat(2000)]}));
    assert_eq!(answer.refusal(), (413, "payload_too_large".to_owned()));
}

#[test]
fn one_too_many_is_429() {
    let raw = Raw::with(&[
        ("ALLOWED_COMMANDS", runward_testkit::puppet().to_str().unwrap()),
        ("RUNWARD_LIMITS_SESSIONS", "1"),
    ]);
    let mut first = raw.run_puppet(&["wait"]);
    first.start();
    let second = raw.post("/raw", &puppet_with(&["print", "x"]));
    assert_eq!(second.refusal(), (429, "too_many".to_owned()));
}

#[test]
fn a_path_or_a_method_that_is_none_is_said_so() {
    let raw = Raw::allowing("*");
    assert_eq!(raw.send("GET", "/raw", &[], b"").refusal(), (405, "method_not_allowed".to_owned()));
    assert_eq!(raw.send("GET", "/raw/ab12", &[], b"").refusal(), (404, "no_such_session".to_owned()));
    assert_eq!(raw.post("/rawer", &json!({})).refusal(), (404, "not_found".to_owned()));
}
