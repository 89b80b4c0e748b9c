//! `/raw` and `/check` are closed where the tools are named without them.

use serde_json::json;

use crate::raw::server::Raw;

#[test]
fn naming_tools_closes_raw_and_check_and_the_refusal_says_what_opens_them() {
    let raw = Raw::with(&[("ALLOWED_COMMANDS", "ls"), ("RUNWARD_TOOLS", "run_network_tool")]);
    for (method, path) in [("POST", "/raw"), ("POST", "/check"), ("GET", "/raw/x"), ("POST", "/raw/x/stdin")]
    {
        let answer = raw.send(method, path, &[], br#"{"executable":"ls"}"#);
        assert_eq!(answer.status, 403, "{path}");
        let error = answer.json();
        assert_eq!(error["error"]["code"], "door_closed", "{path}");
        assert!(error["error"]["message"].as_str().unwrap().contains("add raw to --tools"), "{error}");
    }
}

#[test]
fn raw_is_open_where_it_is_named_and_where_no_tool_is() {
    for tools in ["", "run_network_tool,raw", "raw"] {
        let raw = Raw::with(&[("ALLOWED_COMMANDS", "ls"), ("RUNWARD_TOOLS", tools)]);
        assert_eq!(raw.post("/raw", &json!({ "executable": "ls" })).status, 200, "{tools:?}");
        assert_eq!(raw.post("/check", &json!({ "executable": "ls" })).status, 200, "{tools:?}");
    }
}
