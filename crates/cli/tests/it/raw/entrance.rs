//! The same entrance as for MCP: the token, and the rules for `Host` and `Origin`.

use serde_json::{Value, json};

use super::server::Raw;
use crate::program::Program;

#[test]
fn the_token_of_the_server_is_demanded_on_every_path() {
    let raw = Raw::with(&[("ALLOWED_COMMANDS", "ls"), ("RUNWARD_TOKEN", "s3cret")]);
    let body = br#"{"executable":"ls"}"#;
    let paths = [
        ("POST", "/raw"),
        ("POST", "/check"),
        ("GET", "/raw/x"),
        ("DELETE", "/raw/x"),
        ("POST", "/raw/x/stdin"),
    ];
    for (method, path) in paths {
        assert_eq!(raw.send(method, path, &[], body).refusal().0, 401, "{path}");
        let wrong = [("Authorization", "Bearer guess")];
        assert_eq!(raw.send(method, path, &wrong, body).refusal().0, 401, "{path}");
    }
    assert_eq!(raw.send("POST", "/raw", &[("Authorization", "Bearer s3cret")], body).status, 200);
}

#[test]
fn pages_of_others_and_rebound_names_are_refused() {
    let raw = Raw::allowing("ls");
    let body = br#"{"executable":"ls"}"#;
    let origin = raw.send("POST", "/raw", &[("Origin", "https://evil.example")], body);
    assert_eq!(origin.refusal(), (403, "origin_not_allowed".to_owned()));
    let host = raw.send("POST", "/raw", &[("Host", "evil.example")], body);
    assert_eq!(host.refusal(), (403, "host_not_allowed".to_owned()));
}

#[test]
fn a_page_of_another_port_and_a_body_that_is_not_json_by_its_header_start_nothing() {
    let raw = Raw::allowing("ls");
    let body = br#"{"executable":"ls"}"#;
    for path in ["/raw", "/check"] {
        for origin in ["http://localhost:1", "https://127.0.0.1"] {
            let refused = raw.send("POST", path, &[("Origin", origin)], body).refusal();
            assert_eq!(refused, (403, "origin_not_allowed".to_owned()), "{path} {origin}");
        }
        for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"] {
            let refused = raw.send("POST", path, &[("Content-Type", kind)], body).refusal();
            assert_eq!(refused, (415, "unsupported_media_type".to_owned()), "{path} {kind}");
        }
        let json = [("Content-Type", "application/json; charset=utf-8")];
        assert_eq!(raw.send("POST", path, &json, body).status, 200, "{path}");
    }
}

#[test]
fn every_call_is_recorded_with_its_door_and_its_client() {
    let state = tempfile::tempdir().unwrap();
    let home = state.path().to_str().unwrap();
    let raw = Raw::with(&[("ALLOWED_COMMANDS", "ls"), ("XDG_STATE_HOME", home)]);
    let client = [("User-Agent", "run-remote/9.8 (x)")];
    raw.send("POST", "/raw", &client, br#"{"executable":"ls","args":["/"]}"#).events();
    assert_eq!(raw.send("POST", "/raw", &client, br#"{"executable":"rm"}"#).refusal().0, 403);
    drop(raw);
    let listed = Program::new(&["audit", "list", "--json"]).env("XDG_STATE_HOME", home).run();
    let calls: Vec<Value> = listed.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(calls.len(), 2, "{calls:?}");
    for call in &calls {
        assert_eq!(call["door"], json!("raw"), "{call}");
        assert_eq!(
            (&call["client"]["name"], &call["client"]["version"]),
            (&json!("run-remote"), &json!("9.8"))
        );
    }
}
