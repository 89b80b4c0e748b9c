//! Replies fit a context: what a command floods is shown in part, once, and the rest can be read.

use runward_testkit::mcp::Client as _;
use serde_json::{Value, json};

use crate::output::{Server, output_id};

/// What a reply shows, with its notes.
const REPLY: usize = 64 * 1024;

/// Some two megabytes on each stream.
const FLOOD: &str = "seq 300000; seq 300000 >&2";

/// The bytes of every text in a reply, its structured content included.
fn shown(reply: &Value) -> usize {
    match reply {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(shown).sum(),
        Value::Object(members) => members.values().map(shown).sum(),
        _ => 0,
    }
}

fn texts(reply: &Value) -> usize {
    shown(&reply["content"])
}

#[test]
fn a_flood_from_any_tool_keeps_to_the_size_of_a_reply_and_says_where_the_rest_is() {
    let mut server = Server::start(&[]);
    for (tool, arguments) in [
        ("execute_command", json!({ "command": FLOOD })),
        ("execute_process", json!({ "file": "bash", "args": ["-c", FLOOD] })),
        ("shell", json!({ "command": FLOOD })),
        ("exec_command", json!({ "cmd": FLOOD, "yield_time_ms": 30_000, "max_output_tokens": 1_000_000 })),
        ("exec_command", json!({ "cmd": FLOOD, "yield_time_ms": 30_000, "separate_streams": true })),
    ] {
        let result = server.client.call(tool, arguments)["result"].clone();
        assert!(shown(&result) <= REPLY + 512, "{tool} shows {} bytes", shown(&result));
        assert!(shown(&result) >= REPLY / 2, "{tool} shows {} bytes", shown(&result));
        let said = result["content"].to_string();
        assert!(said.contains("read_output") && said.contains("output_id"), "{said}");
    }
}

#[test]
fn what_execute_command_leaves_out_is_said_within_the_scalar_and_beside_it_and_can_be_read() {
    let mut server = Server::start(&[]);
    let (id, reply) = server.run(json!({}), "seq 300000; echo small >&2");
    let mapping: Value = serde_saphyr::from_str(&reply).unwrap();
    let (stdout, missing) = (mapping["stdout"].as_str().unwrap(), &mapping["stdout_missing_bytes"]);
    assert!(stdout.starts_with("1\n2\n") && stdout.ends_with("\n300000\n"), "{stdout}");
    assert!(stdout.contains(&format!("\n... {missing} bytes missing ...\n")), "{stdout}");
    assert_eq!(mapping["stderr"], "small\n");
    assert!(mapping["rest"].as_str().unwrap().starts_with("Call read_output"), "{mapping}");
    let (_, page) = server.read(&id, json!({ "offset": 150_000, "limit": 1 }));
    assert!(page.contains("150000\t150000\n"), "{page}");
}

#[test]
fn what_fits_comes_back_whole_and_exactly() {
    let mut server = Server::start(&[]);
    let text = "a \\ \"quoted\" line\t:\n".repeat(2500);
    let arguments = json!({ "file": "cat", "input": text });
    let (_, reply) = server.call("execute_process", arguments);
    let mapping: Value = serde_saphyr::from_str(&reply).unwrap();
    assert!(mapping["stdout"] == text && mapping.get("rest").is_none(), "{reply}");
}

#[test]
fn bytes_that_have_to_be_escaped_are_counted_as_they_are_written() {
    let mut server = Server::start(&[]);
    let (id, reply) = server.run(json!({}), "head -c 1000000 /dev/zero | tr '\\0' '\\1'");
    assert!((REPLY / 2..REPLY + 512).contains(&reply.len()), "{}", reply.len());
    assert!(serde_saphyr::from_str::<Value>(&reply).is_ok() && id == output_id(&reply), "{id}");
}

#[test]
fn the_structured_content_of_run_network_tool_keeps_its_mebibyte_and_the_text_is_short() {
    let mut server = Server::start(&[]);
    let arguments = json!({ "executable": "seq", "args": ["300000"] });
    let result = server.client.call("run_network_tool", arguments)["result"].clone();
    assert!(result["structuredContent"]["stdout"].as_str().unwrap().len() > 1 << 20);
    assert!(texts(&result) < REPLY / 3, "{}", texts(&result));
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert!(text["stdout"].as_str().unwrap().ends_with("\n300000\n"), "{text}");
    assert_eq!(text["exitCode"], 0);
    let note = result["content"][1]["text"].as_str().unwrap();
    assert!(note.contains("1 MiB") && note.contains("read_output"), "{note}");
    let small = server.client.call("run_network_tool", json!({ "executable": "seq", "args": ["3"] }));
    let result = &small["result"];
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
}

#[test]
fn the_operator_bounds_replies_of_every_tool_by_one_setting() {
    let mut server = Server::start(&[("RUNWARD_SHELL_TOOL_REPLY_SIZE", "4KiB")]);
    for (tool, arguments) in [
        ("execute_command", json!({ "command": FLOOD })),
        ("exec_command", json!({ "cmd": FLOOD, "yield_time_ms": 30_000 })),
    ] {
        let result = server.client.call(tool, arguments)["result"].clone();
        assert!(texts(&result) < 5 * 1024, "{tool} shows {} bytes", texts(&result));
    }
}

#[test]
fn a_command_that_outlives_the_patience_of_its_caller_shows_what_it_printed_within_the_size() {
    let mut server = Server::start(&[("RUNWARD_MCP_PATIENCE", "1s")]);
    for tool in ["execute_command", "shell"] {
        let arguments = json!({ "command": format!("{FLOOD}; exec sleep 300") });
        let result = server.client.call(tool, arguments)["result"].clone();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("\n  300000\nstderr: |\n  1\n") && text.contains("\nrest: "), "{text}");
        assert!(shown(&result) <= REPLY + 512, "{} bytes", shown(&result));
    }
}
