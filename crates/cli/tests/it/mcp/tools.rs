//! Which tools there are, and what is said of them.

use runward_testkit::mcp::{Client, Era, StdioClient};
use serde_json::{Value, json};

use super::{everywhere, lives, stdio};
use crate::program::Program;

fn listed(client: &mut dyn Client) -> Vec<Value> {
    client.ask("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone()
}

#[test]
fn every_door_and_era_lists_the_same_tools() {
    let lists: Vec<_> = everywhere(Program::new).iter_mut().map(|client| listed(client.as_mut())).collect();
    let names: Vec<_> = lists[0].iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"execute_command") && names.contains(&"execute_process"), "{names:?}");
    assert!(lists.iter().all(|list| *list == lists[0]), "{lists:?}");
}

#[test]
fn a_tool_says_everything_that_a_model_needs() {
    for tool in listed(&mut stdio()) {
        for key in ["title", "description"] {
            assert!(tool[key].as_str().is_some_and(|text| !text.is_empty()), "{key} of {tool}");
        }
        let annotations = &tool["annotations"];
        let is_among = |names: &[&str]| names.iter().any(|name| tool["name"] == *name);
        let runs = !is_among(&["read_output", "read_session", "list_sessions"]);
        assert_eq!(annotations["readOnlyHint"], !runs, "{tool}");
        assert_eq!(annotations["openWorldHint"], runs && !is_among(&["apply_patch"]), "{tool}");
        assert!(!runs || annotations["destructiveHint"] == true, "{tool}");
        let schema = &tool["inputSchema"];
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["type"].is_string(), "the type of {name}: {property}");
            assert!(property["description"].is_string(), "{name}: {property}");
        }
    }
}

#[test]
fn a_schema_has_the_bounds_and_names_what_is_required() {
    let tools = listed(&mut stdio());
    for (name, required) in [("execute_command", "command"), ("execute_process", "file")] {
        let schema = schema_of(&tools, name);
        assert_eq!(schema["required"], json!([required]));
        let timeout = &schema["properties"]["timeout_ms"];
        assert_eq!((&timeout["type"], &timeout["minimum"]), (&json!("integer"), &json!(1)));
        assert_eq!((&timeout["maximum"], &timeout["default"]), (&json!(600_000), &json!(30_000)));
    }
    let arguments = &schema_of(&tools, "execute_process")["properties"]["args"];
    assert_eq!((&arguments["type"], &arguments["items"]["type"]), (&json!("array"), &json!("string")));
}

fn schema_of<'a>(tools: &'a [Value], name: &str) -> &'a Value {
    &tools.iter().find(|tool| tool["name"] == name).unwrap()["inputSchema"]
}

#[test]
fn a_tool_that_is_not_chosen_is_not_there() {
    let program = || Program::new(&["stdio", "--tools", "execute_process"]).env("ALLOWED_COMMANDS", "echo");
    for era in [Era::Legacy, Era::Modern] {
        let mut client = StdioClient::start(program().into_command(), era);
        let tools = listed(&mut client);
        assert_eq!(tools.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), ["execute_process"]);
        let answer = client.call("execute_command", json!({ "command": "echo hello" }));
        let message = "there is no tool \"execute_command\"; the tools are execute_process";
        assert_eq!(
            (&answer["error"]["code"], &answer["error"]["message"]),
            (&json!(-32602), &json!(message))
        );
    }
}

#[test]
fn an_unknown_tool_is_a_protocol_error_and_no_result() {
    for mut client in everywhere(|args| Program::new(args).env("ALLOWED_COMMANDS", runward_testkit::puppet()))
    {
        let answer = client.call("excute", json!({}));
        assert_eq!((&answer["error"]["code"], answer.get("result")), (&json!(-32602), None), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("\"excute\""), "{answer}");
        lives(client.as_mut());
    }
}
