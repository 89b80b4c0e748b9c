use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::tools::USUAL_LIMITS;

#[derive(Debug, Deserialize, JsonSchema)]
struct Example {
    /// What to run.
    #[schemars(length(min = 1))]
    command: String,
    /// Arguments.
    #[serde(default)]
    args: Vec<String>,
    /// Input.
    input: Option<String>,
    /// Variables.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// When to stop.
    #[schemars(range(min = 1), extend("setting" = Setting::Timeout))]
    timeout_ms: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn read(arguments: Value) -> Result<Example, String> {
    let shape = Shape::of::<Example>("this tool").within(&USUAL_LIMITS);
    let checked = shape.check(object(arguments)).map_err(|wrong| wrong.to_string())?;
    Ok(checked.read().expect("what fits is read"))
}

fn refusal(arguments: Value) -> String {
    read(arguments).expect_err("should be refused")
}

#[test]
fn a_tool_without_parameters_says_so() {
    let wrong = Shape::of::<Nothing>("this tool").check(rmcp::object!({ "x": 1 })).unwrap_err();
    assert_eq!(wrong.to_string(), "unknown argument \"x\"; this tool takes no arguments");
}

#[test]
fn a_wrong_argument_is_refused_by_name_with_what_it_takes() {
    let integer = "timeout_ms must be an integer from 1 to 600000, got ";
    for (wrong, got) in [
        (json!(0), "0"),
        (json!(-1), "-1"),
        (json!(600_001), "600001"),
        (json!(1.5), "1.5"),
        (json!(1e300), "1e+300"),
        (json!("1000"), "\"1000\""),
        (json!(null), "null"),
        (json!(true), "true"),
        (json!([1]), "[1]"),
    ] {
        assert_eq!(refusal(json!({"command": "ls", "timeout_ms": wrong})), format!("{integer}{got}"));
    }
    let cases = [
        (json!({"command": 7}), "command must be a string that is not empty, got 7"),
        (json!({"command": ""}), "command must be a string that is not empty, got \"\""),
        (json!({"command": "ls", "input": null}), "input must be a string, got null"),
        (json!({"command": "ls", "args": "a b"}), "args must be an array of strings, got \"a b\""),
        (json!({"command": "ls", "args": ["a", 1]}), "args must be an array of strings, got [\"a\",1]"),
        (json!({"command": "ls", "env": []}), "env must be an object whose values are strings, got []"),
        (
            json!({"command": "ls", "env": {"A": "1", "B": 2}}),
            "env must be an object whose values are strings, got {\"A\":\"1\",\"B\":2}",
        ),
    ];
    for (arguments, text) in cases {
        assert_eq!(refusal(arguments), text);
    }
}

#[test]
fn a_missing_argument_says_what_it_is_for() {
    assert_eq!(refusal(json!({})), "command is required: What to run.");
}

#[test]
fn an_unknown_argument_is_refused_with_the_names_that_are_known() {
    assert_eq!(
        refusal(json!({"cmd": "ls"})),
        "unknown argument \"cmd\"; this tool takes command, args, input, env, timeout_ms"
    );
}

#[test]
fn defaults_are_filled_in_and_whole_floats_are_whole_numbers() {
    let given = read(json!({"command": "ls"})).expect("is right");
    assert_eq!((given.command.as_str(), given.timeout_ms), ("ls", 30_000));
    assert_eq!((given.input, given.args), (None, vec![]));
    assert_eq!(given.env, BTreeMap::new());
    assert_eq!(read(json!({"command": "ls", "timeout_ms": 1000.0})).expect("is right").timeout_ms, 1000);
}
