//! Requests that name the same workspace share temporary files and a loopback; without a name each has its own.

use runward_testkit::eventually;
use serde_json::{Value, json};

use super::server::{Raw, printed};
use crate::run_remote::program::RunRemote;

const NAME: &str = "build-7f3c9d2e1a4b8c6d5e0f";
const OTHER: &str = "other-7f3c9d2e1a4b8c6d5e0f";

/// Everything may run, confined, with a loopback of its own; a token only where one is given.
fn raw(variables: &[(&str, &str)]) -> Raw {
    let usual = [
        ("ALLOWED_COMMANDS", "*"),
        ("RUNWARD_SANDBOX_WRITABLE_ROOTS", "/nowhere/at/all"),
        ("RUNWARD_RAW_NETWORK", "off"),
    ];
    Raw::with(&[&usual[..], variables].concat())
}

fn body(workspace: Option<&str>, line: &str) -> Value {
    let mut body = json!({ "executable": "bash", "args": ["-c", line] });
    if let Some(name) = workspace {
        body["workspace"] = json!(name);
    }
    body
}

fn said(raw: &Raw, workspace: Option<&str>, line: &str) -> String {
    String::from_utf8(printed(&raw.run(&body(workspace, line)).events(), "stdout")).unwrap()
}

#[test]
fn those_that_name_the_same_share_what_nobody_else_sees() {
    let raw = raw(&[]);
    assert_eq!(
        said(&raw, Some(NAME), "echo kept > /tmp/file; echo kept > /dev/shm/file; echo made"),
        "made\n"
    );
    let read = "cat /tmp/file /dev/shm/file 2>/dev/null || echo none";
    assert_eq!(said(&raw, Some(NAME), read), "kept\nkept\n");
    for other in [None, Some(OTHER)] {
        assert_eq!(said(&raw, other, read), "none\n", "{other:?}");
    }
}

#[test]
fn a_server_in_one_request_is_reached_by_another_of_that_name_and_by_no_other() {
    let raw = raw(&[]);
    let serve = "exec python3 -u -c 'import socketserver as s
class H(s.StreamRequestHandler):
    def handle(self): self.wfile.write(b\"served\\n\")
print(\"up\", flush=True)
s.TCPServer((\"127.0.0.1\", 8300), H).serve_forever()'";
    let mut stream = raw.run(&body(Some(NAME), serve));
    stream.start();
    let fetch = "exec 3<>/dev/tcp/127.0.0.1/8300 && cat <&3 || echo none";
    eventually("it serves", || said(&raw, Some(NAME), fetch) == "served\n");
    for other in [None, Some(OTHER)] {
        assert_eq!(said(&raw, other, fetch), "none\n", "{other:?}");
    }
}

#[test]
fn it_is_gone_some_time_after_its_last_command() {
    let raw = raw(&[("RUNWARD_RAW_WORKSPACE_KEEP", "0s")]);
    said(&raw, Some(NAME), "touch /tmp/file");
    let gone = "test -e /tmp/file && echo there || echo gone";
    eventually("it is forgotten", || said(&raw, Some(NAME), gone) == "gone\n");
}

#[test]
fn without_a_token_a_name_has_to_be_one_that_nobody_guesses() {
    let raw = raw(&[]);
    let answer = raw.send("POST", "/raw", &[], body(Some("build"), "true").to_string().as_bytes());
    assert_eq!(answer.status, 400);
    let told = answer.json();
    let text = told["error"]["message"].as_str().unwrap();
    assert!(
        text.starts_with("workspace \"build\" could be guessed") && text.contains("22 characters"),
        "{text}"
    );
    said(&raw, Some(NAME), "true");
    assert_eq!(raw.send("GET", "/raw/workspaces", &[], b"").json(), json!({ "workspaces": [] }));
}

#[test]
fn a_token_has_its_own_by_any_name_and_is_told_of_them() {
    let raw = raw(&[("RUNWARD_TOKEN", "0123456789abcdef0123456789abcdef")]);
    let token = [("Authorization", "Bearer 0123456789abcdef0123456789abcdef")];
    let run = |line: &str| {
        raw.send("POST", "/raw", &token, body(Some("build"), line).to_string().as_bytes()).events()
    };
    run("touch /tmp/file");
    assert_eq!(printed(&run("ls /tmp"), "stdout"), b"file\n");
    let listed = || raw.send("GET", "/raw/workspaces", &token, b"").json()["workspaces"][0].clone();
    eventually("nobody is in it", || listed()["running"] == json!(0));
    assert_eq!(listed()["name"], json!("build"));
}

#[test]
fn run_remote_names_one_too() {
    let raw = raw(&[]);
    let run = |line: &str| {
        RunRemote::on(&raw, &["--workspace", NAME, "--cwd", "/", "--", "bash", "-c", line]).run()
    };
    assert_eq!(run("echo kept > /tmp/file").code, Some(0));
    assert_eq!(run("cat /tmp/file").stdout, b"kept\n");
    let alone = RunRemote::on(&raw, &["--cwd", "/", "--", "cat", "/tmp/file"]).run();
    assert_ne!(alone.code, Some(0));
}
