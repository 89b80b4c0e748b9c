//! The tool `shell`, as a client meets it.

use std::fs;

use runward_testkit::mcp::{Client, Era, StdioClient};
use runward_testkit::{eventually, puppet};
use serde_json::{Value, json};

use crate::program::Program;

fn client() -> StdioClient {
    client_allowed("*")
}

fn client_allowed(list: &str) -> StdioClient {
    StdioClient::start(Program::new(&["stdio"]).env("ALLOWED_COMMANDS", list).into_command(), Era::Modern)
}

#[track_caller]
fn result(answer: &Value) -> &Value {
    answer.get("result").unwrap_or_else(|| panic!("not a result: {answer}"))
}

fn shell(client: &mut StdioClient, arguments: Value) -> Value {
    result(&client.call("shell", arguments)).clone()
}

fn text(result: &Value, index: usize) -> &str {
    result["content"][index]["text"].as_str().unwrap_or_default()
}

#[test]
fn a_script_runs_where_it_is_told_with_the_variables_that_it_is_given() {
    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("link");
    let place = directory.path().canonicalize().unwrap().join("place");
    fs::create_dir(&place).unwrap();
    std::os::unix::fs::symlink(&place, &link).unwrap();
    let arguments = json!({
        "command": "echo $GREETING | tr a-z A-Z && pwd -P >&2",
        "working_directory": link, "environment": {"GREETING": "hello"}, "timeout": 60,
    });
    let result = shell(&mut client(), arguments);
    assert_eq!((&result["isError"], text(&result, 0)), (&json!(false), "Command executed successfully"));
    let metadata = &result["structuredContent"];
    assert_eq!((&metadata["exit_code"], &metadata["stdout"]), (&json!(0), &json!("HELLO\n")));
    assert_eq!(metadata["stderr"], format!("{}\n", place.display()));
    assert_eq!(metadata["working_directory"], json!(place));
    assert_eq!(metadata["command"], "echo $GREETING | tr a-z A-Z && pwd -P >&2");
    assert!(metadata["execution_time_ms"].is_u64() && metadata["cpu_time_ms"].is_u64(), "{metadata}");
    assert!(metadata["max_rss_kb"].as_u64().unwrap() > 0, "{metadata}");
    assert_eq!(metadata["policy"]["decision"], "allow");
    let commands: Vec<_> = metadata["policy"]["commands"].as_array().unwrap().iter().collect();
    assert_eq!(commands.len(), 3, "{metadata}");
    assert_eq!(text(&result, 1), format!("stdout:\nHELLO\nstderr:\n{}\n", place.display()));
}

#[test]
fn failures_are_errors_with_their_code_signal_and_reason() {
    let mut client = client();
    for (command, code, signal, reason) in [
        ("ls -d / && exit 3", 3, None, ""),
        ("kill -9 $$", 137, Some("SIGKILL"), "it was ended by SIGKILL"),
        ("lss /; true; lss /", 127, None, "command not found: lss (close matches on PATH: "),
        ("cd /no/such/place", 1, None, "directory does not exist: /no/such/place"),
        ("/etc/passwd; exit $?", 126, None, "\"/etc/passwd\" was found but cannot be executed"),
        ("bash -c 'kill -SEGV $$'; exit $?", 139, None, "a command in it was ended by SIGSEGV"),
        ("echo x > /dev/full", 1, None, "the disk is full"),
        ("cat < /dev/tty", 1, None, "it seems to want a terminal"),
    ] {
        let result = shell(&mut client, json!({ "command": command }));
        let metadata = &result["structuredContent"];
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(text(&result, 0), format!("Command failed with exit code {code}"), "{result}");
        assert_eq!((&metadata["exit_code"], &metadata["signal"]), (&json!(code), &json!(signal)), "{result}");
        let said = metadata["reason"].as_str().unwrap_or_default();
        assert!(said.starts_with(reason) && said.is_empty() == reason.is_empty(), "{said}");
        assert_eq!(text(&result, 2), said);
    }
}

#[test]
fn a_timeout_keeps_what_was_printed_and_says_so() {
    let result = shell(&mut client(), json!({ "command": "echo begun; sleep 300 | cat", "timeout": 1 }));
    assert_eq!((&result["isError"], text(&result, 0)), (&json!(true), "Command timed out after 1 second"));
    let metadata = &result["structuredContent"];
    assert_eq!((&metadata["timeout_seconds"], &metadata["partial_stdout"]), (&json!(1), &json!("begun\n")));
    assert_eq!((&metadata["partial_stderr"], &metadata["exit_code"]), (&json!(""), &Value::Null));
    assert_eq!(metadata["reason"], Value::Null, "the end of a pipeline waits for nobody's input");
}

#[test]
fn a_timeout_tells_who_waited_for_input() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    // Held open for writing, so that whoever reads waits.
    let _writer = fs::File::options().read(true).write(true).open(&pipe).unwrap();
    let command = format!("cat < {}; echo never", pipe.display());
    let result = shell(&mut client(), json!({ "command": command, "timeout": 1 }));
    let reason = result["structuredContent"]["reason"].as_str().unwrap();
    assert!(reason.starts_with("it was waiting for input"), "{reason}");
}

#[test]
fn a_refusal_carries_the_receipt_and_what_would_allow_it() {
    let program = Program::new(&["stdio"]).env("ALLOWED_COMMANDS", "echo");
    let mut client = StdioClient::start(program.into_command(), Era::Legacy);
    let refused = shell(&mut client, json!({ "command": "echo one; whoami" }));
    let reason = "command \"whoami\" is not allowed";
    assert!(refused["isError"] == true && text(&refused, 0).starts_with(reason), "{refused}");
    let metadata = &refused["structuredContent"];
    assert_eq!((&metadata["command"], &metadata["exit_code"]), (&json!("echo one; whoami"), &Value::Null));
    assert_eq!(metadata["policy"]["decision"], "deny");
    assert_eq!(metadata["policy"]["commands"][1]["decision"], "deny");
    let missing = shell(&mut client, json!({ "command": "echo", "working_directory": "/no/such/place" }));
    assert!(text(&missing, 0).ends_with("does not exist: /no/such/place"), "{missing}");
    assert_eq!(missing["structuredContent"]["policy"]["decision"], "deny");
    let other = result(&client.call("execute_command", json!({ "command": "whoami" }))).clone();
    assert_eq!(other["_meta"]["runward/policy"]["decision"], "deny", "{other}");
    let ran = result(&client.call("execute_process", json!({ "file": "echo" }))).clone();
    assert_eq!(ran["_meta"]["runward/policy"]["decision"], "allow", "{ran}");
}

#[test]
fn where_rules_decide_bash_is_given_what_was_judged_and_never_the_text() {
    let line = "echo \"$BASH_EXECUTION_STRING\" | cat # größer";
    for (list, given) in [("*", line), ("echo,cat", "'echo' \"${BASH_EXECUTION_STRING}\" | 'cat'")] {
        let result = shell(&mut client_allowed(list), json!({ "command": line }));
        assert_eq!(result["structuredContent"]["stdout"], format!("{given}\n"), "{list}");
        assert_eq!(result["structuredContent"]["command"], line);
    }
}

#[test]
fn messages_of_bash_name_the_lines_of_the_caller() {
    let script = "# first\n\necho \"a\nb\" \\\n  c\ncat <<E\nx\nE\ncd /nowhere\n";
    let result = shell(&mut client_allowed("echo,cat,cd"), json!({ "command": script }));
    let stderr = result["structuredContent"]["stderr"].as_str().unwrap();
    assert!(stderr.contains("line 9: cd: /nowhere"), "{stderr}");
    assert_eq!(result["structuredContent"]["stdout"], "a\nb c\nx\n");
}

#[test]
fn a_variable_that_decides_what_runs_is_refused() {
    let arguments = json!({ "command": "echo hello", "environment": {"LD_PRELOAD": "/x.so"} });
    let result = shell(&mut client(), arguments);
    assert!(result["isError"] == true && text(&result, 0).contains("LD_PRELOAD"), "{result}");
}

#[test]
fn output_arrives_while_the_command_runs() {
    let directory = tempfile::tempdir().unwrap();
    let (first, second) = (directory.path().join("first"), directory.path().join("second"));
    let (puppet, wait) = (puppet(), |file: &std::path::Path| format!("await {}", file.display()));
    let command = format!(
        "{0} print $'\\e[1mone\\e[0m\\n' {1}; {0} eprint two {2}",
        puppet.display(),
        wait(&first),
        wait(&second),
    );
    let mut client = client();
    let params =
        json!({ "name": "shell", "arguments": { "command": command }, "_meta": { "progressToken": 7 } });
    let id = client.begin("tools/call", params);
    let mut notes = Vec::new();
    for (words, file) in [("one", &first), ("two", &second)] {
        notes.push(note_with(&mut client, words));
        fs::write(file, "").unwrap();
    }
    let answer = client.answer(id);
    assert_eq!(result(&answer)["structuredContent"]["stdout"], "one\n", "{answer}");
    assert_eq!(notes[0]["message"], "one\n");
    assert!(notes.iter().all(|note| note["progressToken"] == 7));
    assert!(notes[0]["progress"].as_f64() < notes[1]["progress"].as_f64(), "{notes:?}");
}

#[test]
fn notes_are_gathered_and_never_more_than_ten_a_second() {
    let mut client = client();
    let command = "for i in {1..40}; do echo $i; sleep 0.02; done";
    let params =
        json!({ "name": "shell", "arguments": { "command": command }, "_meta": { "progressToken": "x" } });
    let id = client.begin("tools/call", params);
    let mut messages = client.messages(id);
    let answer = messages.pop().unwrap();
    let notes: Vec<_> = messages.iter().map(|message| &message["params"]).collect();
    let told: String = notes.iter().map(|note| note["message"].as_str().unwrap()).collect();
    let printed = result(&answer)["structuredContent"]["stdout"].as_str().unwrap();
    assert!(!told.is_empty() && printed.starts_with(&told), "{told:?}");
    let times: Vec<_> = notes.iter().map(|note| note["progress"].as_f64().unwrap()).collect();
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 0.0999), "{times:?}");
}

/// Waits for a note that says this.
fn note_with(client: &mut StdioClient, words: &str) -> Value {
    loop {
        let message = client.receive().unwrap();
        assert_eq!(message["method"], "notifications/progress", "{message}");
        if message["params"]["message"].as_str().unwrap().contains(words) {
            return message["params"].clone();
        }
    }
}

#[test]
fn without_a_token_nothing_is_told_while_it_runs() {
    let mut client = client();
    let arguments = json!({ "command": "seq 3; exec >&-; :" });
    let id = client.begin("tools/call", json!({ "name": "shell", "arguments": arguments }));
    assert_eq!(client.messages(id).len(), 1);
}

#[test]
fn a_flood_keeps_to_the_budget_of_the_reply() {
    let budget = 8 * 1024;
    let program = Program::new(&["stdio"]).env("ALLOWED_COMMANDS", "*");
    let program = program.env("RUNWARD_SHELL_TOOL_REPLY_SIZE", "8KiB");
    let mut client = StdioClient::start(program.into_command(), Era::Modern);
    let result = shell(&mut client, json!({ "command": "seq 1000000; echo end >&2" }));
    let metadata = &result["structuredContent"];
    let stdout = metadata["stdout"].as_str().unwrap();
    assert!(stdout.len() < budget + 100, "{}", stdout.len());
    assert!(stdout.starts_with("1\n2\n") && stdout.ends_with("\n1000000\n"), "{stdout}");
    let truncated = metadata["stdout_truncated_bytes"].as_u64().unwrap();
    assert!(stdout.contains(&format!("\n... {truncated} bytes missing ...\n")));
    assert_eq!(metadata["stderr"], "end\n");
    assert!(text(&result, 1).len() < budget + 200);
}

#[test]
fn what_is_no_text_is_named_and_counted() {
    let result = shell(&mut client(), json!({ "command": "printf 'a\\0b'; printf '50%%\\r100%%\\n' >&2" }));
    let metadata = &result["structuredContent"];
    assert_eq!(
        (&metadata["stdout"], &metadata["stdout_binary"]),
        (&json!("[binary output: 3 bytes]"), &json!(true))
    );
    assert_eq!((&metadata["stdout_bytes"], &metadata["stderr"]), (&json!(3), &json!("100%\n")));
}

#[test]
fn cancelling_ends_the_command() {
    let marker = runward_testkit::Marker::new();
    let mut client = client();
    let arguments =
        json!({ "command": format!("{} linger {} session; :", puppet().display(), marker.as_str()) });
    let id = client.begin("tools/call", json!({ "name": "shell", "arguments": arguments }));
    eventually("it runs", || !marker.carriers().is_empty());
    client.cancel(id);
    eventually("it is gone", || marker.carriers().is_empty());
}
