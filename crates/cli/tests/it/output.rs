//! What a command printed, to be read as often and as far as anybody wants.

use runward_testkit::mcp::{Client, Era, StdioClient};
use serde_json::{Value, json};

use crate::program::Program;

/// The program with everything allowed and a state directory of its own.
pub(crate) struct Server {
    pub(crate) client: StdioClient,
    pub(crate) state: tempfile::TempDir,
}

impl Server {
    pub(crate) fn start(variables: &[(&str, &str)]) -> Self {
        let state = tempfile::tempdir().unwrap();
        let program =
            Program::new(&["stdio"]).env("ALLOWED_COMMANDS", "*").env("XDG_STATE_HOME", state.path());
        let program = variables.iter().fold(program, |program, (name, value)| program.env(name, value));
        Server { client: StdioClient::start(program.into_command(), Era::Modern), state }
    }

    /// Calls a tool: whether that was an error, and its first text.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> (bool, String) {
        told(&self.client.call(tool, arguments))
    }

    /// Runs a command line; the name of its output, and the whole reply.
    pub(crate) fn run(&mut self, mut arguments: Value, command: &str) -> (String, String) {
        arguments["command"] = json!(command);
        let (_, text) = self.call("execute_command", arguments);
        (output_id(&text), text)
    }

    /// Reads an output.
    pub(crate) fn read(&mut self, id: &str, mut arguments: Value) -> (bool, String) {
        arguments["output_id"] = json!(id);
        self.call("read_output", arguments)
    }

    pub(crate) fn spool(&self) -> std::path::PathBuf {
        self.state.path().join("runward/output")
    }
}

pub(crate) fn told(answer: &Value) -> (bool, String) {
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"));
    (result["isError"] == true, text.to_owned())
}

#[track_caller]
pub(crate) fn output_id(reply: &str) -> String {
    let id = reply.lines().find_map(|line| line.strip_prefix("output_id: "));
    id.unwrap_or_else(|| panic!("no output_id in {reply}")).to_owned()
}

#[test]
fn a_small_output_is_read_by_line_and_makes_no_file() {
    let mut server = Server::start(&[]);
    let (id, _) = server.run(json!({}), "seq 5; echo no >&2; exit 3");
    let (is_error, text) = server.read(&id, json!({"offset": 2, "limit": 2}));
    assert!(!is_error);
    let head = format!("stdout of output {id}: ended, exit_code 3\n5 lines, 10 bytes\n");
    assert_eq!(text, format!("{head}     2\t2\n     3\t3\n[more: offset 4]\n"));
    let (_, text) = server.read(&id, json!({"stream": "stderr"}));
    assert!(text.ends_with("1 lines, 3 bytes\n     1\tno\n"), "{text}");
    let (_, text) = server.read(&id, json!({"tail": 1}));
    assert!(text.ends_with("     5\t5\n"), "{text}");
    assert!(!server.spool().exists());
}

#[test]
fn binary_output_is_read_back_byte_for_byte() {
    let mut server = Server::start(&[]);
    let answer = server.client.call("shell", json!({"command": "printf '\\000\\001\\377\\n\\376'"}));
    let fields = &answer["result"]["structuredContent"];
    assert_eq!((&fields["stdout_binary"], &fields["stdout_bytes"]), (&json!(true), &json!(5)));
    assert!(fields["note"].as_str().unwrap().ends_with("(base64: true for the exact bytes)"), "{fields}");
    let id = fields["output_id"].as_str().unwrap().to_owned();
    let (_, text) = server.read(&id, json!({"base64": true}));
    assert!(text.ends_with("\n5 of 5 bytes, in base64\nAAH/Cv4=\n"), "{text}");
    let (_, text) = server.read(&id, json!({"base64": true, "offset": 2, "limit": 2}));
    assert!(text.ends_with("\n2 of 5 bytes, in base64\nAf8=\n[more: offset 4]\n"), "{text}");
}

#[test]
fn fifty_megabytes_are_paged_and_searched_with_little_memory() {
    let mut server = Server::start(&[]);
    let (id, reply) = server.run(json!({"timeout_ms": 60_000}), "seq 7000000");
    assert!(reply.contains("bytes missing"), "the reply itself is short");
    let (_, text) = server.read(&id, json!({"offset": 6_543_210, "limit": 1}));
    assert!(text.contains("\n7000000 lines, 54888896 bytes\n6543210\t6543210\n"), "{text}");
    let (_, text) = server.read(&id, json!({"grep": "^1234567$"}));
    assert!(text.contains("1 matches in 7000000 lines") && text.contains("1234567\t1234567\n"), "{text}");
    let (_, text) = server.read(&id, json!({"grep": "99$", "offset": 70_000, "limit": 1}));
    assert!(text.contains("70000 matches") && text.contains("6999999\t6999999\n"), "{text}");
    let (_, text) = server.read(&id, json!({"tail": 2}));
    assert!(text.ends_with("6999999\t6999999\n7000000\t7000000\n"), "{text}");
    let peak = server.client.server().peak_memory_kib();
    assert!(peak < 64 << 10, "{peak} KiB for an output of 54 MB");
}

#[test]
fn an_unknown_output_is_an_error_that_says_why() {
    let mut server = Server::start(&[]);
    let (is_error, text) = server.read("abc", json!({}));
    assert!(is_error && text.contains("no such output"), "{text}");
}

#[test]
fn an_output_that_made_room_for_another_says_so() {
    let limits = [("RUNWARD_OUTPUT_QUOTA", "1MiB"), ("RUNWARD_LIMITS_OUTPUT", "1KiB")];
    let mut server = Server::start(&limits);
    let (first, _) = server.run(json!({}), "head -c 900000 /dev/zero");
    let (second, _) = server.run(json!({}), "head -c 900000 /dev/zero");
    let (is_error, text) = server.read(&first, json!({}));
    assert!(is_error && text.contains("evicted"), "{text}");
    assert!(!server.read(&second, json!({})).0);
}

#[test]
fn what_is_beyond_the_largest_size_leaves_memory_and_replies_and_is_read_from_disk() {
    let mut server = Server::start(&[("RUNWARD_SHELL_TOOL_MAX_OUTPUT_SIZE", "10KB")]);
    for (tool, id) in [("shell", "structuredContent"), ("execute_command", "content")] {
        let answer = server.client.call(tool, json!({"command": "seq 100000"}));
        let result = &answer["result"];
        let id = match &result[id]["output_id"] {
            Value::String(id) => id.clone(),
            _ => output_id(result["content"][0]["text"].as_str().unwrap()),
        };
        let shown = result["content"].to_string().len();
        assert!((9_000..20_000).contains(&shown), "{tool} shows {shown} bytes");
        let (_, text) = server.read(&id, json!({"offset": 50_000, "limit": 1}));
        assert!(text.contains("100000 lines, 588895 bytes\n 50000\t50000\n"), "{tool}: {text}");
        assert!(!text.contains("missing"), "{text}");
    }
}

#[test]
fn a_command_that_prints_more_than_the_quota_ends_as_it_would_and_the_rest_is_counted() {
    let limits = [("RUNWARD_OUTPUT_QUOTA", "1MiB"), ("RUNWARD_LIMITS_OUTPUT", "1KiB")];
    let mut server = Server::start(&limits);
    let (before, _) = server.run(json!({}), "seq 1000");
    let (id, reply) = server.run(json!({}), "yes | head -n 1000000; exit 3");
    assert!(reply.starts_with("exit_code: 3\n"), "{reply}");
    assert!(reply.contains("\noutput_note: Output beyond 1048576 bytes was counted but not kept"), "{reply}");
    let (_, text) = server.read(&id, json!({"tail": 1}));
    assert!(text.contains("[951424 bytes after these are missing: Output beyond 1048576 bytes"), "{text}");
    assert!(server.read(&before, json!({})).1.contains("evicted"), "the older one made room");
    let (after, _) = server.run(json!({}), "seq 1000");
    assert!(server.read(&after, json!({"tail": 1})).1.ends_with("  1000\t1000\n"));
    assert!(server.read(&id, json!({})).1.contains("evicted"), "and so did this one once it had ended");
}

#[test]
fn a_directory_that_cannot_be_written_is_said_and_the_command_has_run() {
    let limits = [("RUNWARD_OUTPUT_DIRECTORY", "/proc/nowhere"), ("RUNWARD_LIMITS_OUTPUT", "1KiB")];
    let mut server = Server::start(&limits);
    let (_, reply) = server.run(json!({}), "seq 10000");
    assert!(reply.starts_with("exit_code: 0\n") && reply.contains("output_note: "), "{reply}");
}
