//! What a server writes down, and where.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use runward_testkit::mcp::{Client, Era, StdioClient};
use runward_testkit::{eventually, puppet};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::Program;

/// The program with its state in this directory.
fn kept_in(state: &Path, args: &[&str]) -> Program {
    Program::new(args).env("XDG_STATE_HOME", state).env("ALLOWED_COMMANDS", puppet())
}

/// The program of a user who has no home, whose temporary files are here.
fn homeless(temporary: &Path, args: &[&str]) -> Program {
    kept_in(Path::new(""), args).env("HOME", "/no/such/home").env("TMPDIR", temporary)
}

fn directory_of_ours(temporary: &Path) -> PathBuf {
    temporary.join(format!("runward-{}", rustix::process::geteuid().as_raw()))
}

/// Serves one call after the other, and ends.
fn serve(program: Program, calls: &[Value]) -> Vec<String> {
    let mut client = StdioClient::start(program.into_command(), Era::Legacy);
    let answers = calls.iter().map(|call| client.call("execute_process", call.clone()).to_string()).collect();
    client.close_input();
    assert!(client.server().ended().success());
    answers
}

fn prints() -> Value {
    json!({ "file": puppet(), "args": ["print", "hello"] })
}

fn listed(program: Program) -> Vec<Value> {
    let ended = program.run();
    assert_eq!(ended.code, 0, "{ended:?}");
    ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_was_run_and_what_was_refused_are_both_in_the_trail() {
    let state = tempfile::tempdir().unwrap();
    serve(kept_in(state.path(), &["stdio"]), &[prints(), json!({ "file": "ls" })]);
    let calls = listed(kept_in(state.path(), &["audit", "list", "--json"]));
    let told = |name: &str| -> Vec<&Value> { calls.iter().map(|call| &call[name]).collect() };
    assert_eq!(told("state"), ["refused", "ended"]);
    assert_eq!(told("decision"), ["deny", "allow"]);
    assert_eq!(told("exit_code"), [&Value::Null, &json!(0)]);
    assert_eq!(told("door"), ["execute_process"; 2]);
    let ended = kept_in(state.path(), &["audit", "verify"]).run();
    assert!(ended.code == 0 && ended.stdout.starts_with("clean: 5 records at "), "{ended:?}");
}

#[test]
fn a_run_that_its_server_did_not_live_to_close_is_lost_at_the_next_start() {
    let state = tempfile::tempdir().unwrap();
    let states = || -> Vec<Value> {
        let ended = kept_in(state.path(), &["audit", "list", "--json"]).run();
        ended
            .stdout
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["state"].take())
            .collect()
    };
    let mut client = StdioClient::start(kept_in(state.path(), &["stdio"]).into_command(), Era::Legacy);
    let call = json!({ "name": "execute_process", "arguments": { "file": puppet(), "args": ["wait"] } });
    client.begin("tools/call", call);
    eventually("the call is recorded", || states() == ["open"]);
    client.server().signal(Signal::KILL);
    client.server().ended();
    assert_eq!(states(), ["open"], "reading changes nothing");
    serve(kept_in(state.path(), &["stdio"]), &[]);
    assert_eq!(states(), ["lost"]);
    assert_eq!(kept_in(state.path(), &["audit", "verify"]).run().code, 0);
}

#[test]
fn without_a_home_the_trail_is_in_a_private_directory_among_temporary_files_and_a_warning_says_so() {
    let temporary = tempfile::tempdir().unwrap();
    serve(homeless(temporary.path(), &["stdio"]), &[prints()]);
    let directory = directory_of_ours(temporary.path());
    assert_eq!(fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(listed(homeless(temporary.path(), &["audit", "list", "--json"])).len(), 1);
    let ended = homeless(temporary.path(), &["stdio"]).run();
    let place = directory.join("audit.db");
    assert!(ended.stderr.contains("the audit trail is among temporary files"), "{ended:?}");
    assert!(ended.stderr.contains(place.to_str().unwrap()), "{ended:?}");
}

#[test]
fn a_directory_that_another_may_have_prepared_refuses_every_call() {
    let (temporary, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    symlink(elsewhere.path(), directory_of_ours(temporary.path())).unwrap();
    let answers = serve(homeless(temporary.path(), &["stdio"]), &[prints()]);
    assert!(answers[0].contains("is a link, belongs to another user"), "{answers:?}");
    assert!(!answers[0].contains("hello\\n"), "{answers:?}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn nothing_is_recorded_where_the_settings_say_so() {
    let state = tempfile::tempdir().unwrap();
    let program = kept_in(state.path(), &["stdio"]).env("RUNWARD_AUDIT_ENABLED", "false");
    let answers = serve(program, &[prints()]);
    assert!(answers[0].contains("hello"), "{answers:?}");
    assert!(!state.path().join("runward/audit.db").exists());
}
