//! Tokens: this user's own, and those that the operator gave names.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::program::{Ended, Program};
use crate::raw::server::{Raw, printed};
use crate::run_remote::program::RunRemote;

fn runward(home: &Path, args: &[&str]) -> Ended {
    Program::new(args).env("XDG_STATE_HOME", home).run()
}

fn own_token(home: &Path) -> (PathBuf, String) {
    let made = runward(home, &["token"]);
    assert_eq!(made.code, 0, "{made:?}");
    let file = PathBuf::from(made.stdout.trim_end());
    let token = fs::read_to_string(&file).unwrap().trim_end().to_owned();
    (file, token)
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

#[test]
fn this_users_token_is_private_stays_the_same_and_is_replaced_when_asked() {
    let home = tempfile::tempdir().unwrap();
    let (file, token) = own_token(home.path());
    assert_eq!(file, home.path().join("runward/token"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(token.len() == 72 && token.starts_with("runward_"), "{token}");
    assert_eq!(own_token(home.path()).1, token);
    assert_eq!(runward(home.path(), &["token", "--new"]).code, 0);
    assert_ne!(own_token(home.path()).1, token);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = Program::new(&["serve", "--bind", "127.0.0.1:0"]).env("XDG_STATE_HOME", home.path()).run();
    assert!(refused.code == 70 && refused.stderr.contains("not private"), "{refused:?}");
}

#[test]
fn a_server_demands_this_users_token_and_run_remote_finds_it_by_itself() {
    let home = tempfile::tempdir().unwrap();
    let (_, token) = own_token(home.path());
    let state = home.path().to_str().unwrap();
    let raw = Raw::with(&[("ALLOWED_COMMANDS", "echo"), ("XDG_STATE_HOME", state)]);
    let body = br#"{"executable":"echo"}"#;
    assert_eq!(raw.send("POST", "/raw", &[], body).refusal(), (401, "unauthorized".to_owned()));
    assert_eq!(raw.send("POST", "/raw", &[("Authorization", &bearer(&token))], body).status, 200);
    let found = RunRemote::on(&raw, &["--", "echo", "found"]).env("XDG_STATE_HOME", state).run();
    assert!(found.code == Some(0) && found.stdout == b"found\n", "{found:?}");
    let wrong = RunRemote::on(&raw, &["--", "echo"]).env("XDG_STATE_HOME", "/nowhere").run();
    wrong.failed(254, "a token is demanded");
    let given =
        RunRemote::on(&raw, &["--", "echo"]).env("RUN_REMOTE_TOKEN", "other").env("XDG_STATE_HOME", state);
    given.run().failed(254, "this token is not known here");
}

#[test]
fn this_users_token_is_taken_beside_the_servers_own() {
    let home = tempfile::tempdir().unwrap();
    let state = home.path().to_str().unwrap();
    let raw =
        Raw::with(&[("ALLOWED_COMMANDS", "echo"), ("XDG_STATE_HOME", state), ("RUNWARD_TOKEN", "s3cret")]);
    let (_, token) = own_token(home.path());
    for token in ["s3cret", &token] {
        let answer =
            raw.send("POST", "/raw", &[("Authorization", &bearer(token))], br#"{"executable":"echo"}"#);
        assert_eq!(answer.status, 200);
    }
}

#[test]
fn a_confined_command_does_not_read_this_users_token() {
    let home = runward_testkit::seen_by_the_confined(env!("CARGO_TARGET_TMPDIR"));
    let home = tempfile::tempdir_in(home).unwrap();
    let (file, token) = own_token(home.path());
    let state = home.path().to_str().unwrap();
    let raw = Raw::with(&[("ALLOWED_COMMANDS", "*"), ("XDG_STATE_HOME", state)]);
    let body = json!({ "executable": "cat", "args": [file], "cwd": home.path() }).to_string();
    let events = raw.send("POST", "/raw", &[("Authorization", &bearer(&token))], body.as_bytes()).events();
    assert_eq!(printed(&events, "stdout"), b"", "{events:?}");
    assert_ne!(events.last().unwrap()["exitCode"], 0);
}

/// Settings with a token for each of these, and the tokens.
fn named(home: &Path, wanted: &[(&str, &str)]) -> (PathBuf, Vec<String>) {
    let mut settings = "policy.allowed_commands = [\"*\"]\n".to_owned();
    let mut tokens = Vec::new();
    for (name, roles) in wanted {
        let made = runward(home, &["token", name, "--roles", roles]);
        assert_eq!(made.code, 0, "{made:?}");
        let (token, lines) = made.stdout.split_once('\n').unwrap();
        assert!(!lines.contains(token), "only its hash is kept");
        settings += lines;
        tokens.push(token.to_owned());
    }
    let file = home.join("config.toml");
    fs::write(&file, settings).unwrap();
    (file, tokens)
}

#[test]
fn each_named_token_is_somebody_of_its_own_with_its_roles() {
    let home = tempfile::tempdir().unwrap();
    let wanted = [("ci", "run,answer"), ("other", "run"), ("ci", "read")];
    let (file, tokens) = named(home.path(), &wanted);
    let state = home.path().to_str().unwrap();
    let raw = Raw::with(&[("RUNWARD_CONFIG", file.to_str().unwrap()), ("XDG_STATE_HOME", state)]);
    let [ci, other, reader] = &tokens[..] else { panic!("three tokens") };
    let send = |token: &str, method: &str, path: &str, body: &Value| {
        raw.send(method, path, &[("Authorization", &bearer(token))], body.to_string().as_bytes())
    };
    let sleep = json!({ "executable": "sleep", "args": ["600"], "detach": true });
    assert_eq!(send(reader, "POST", "/raw", &sleep).refusal(), (403, "role_missing".to_owned()));
    assert_eq!(send("guess", "POST", "/raw", &sleep).refusal().0, 401);
    assert_eq!(send(reader, "POST", "/check", &json!({ "executable": "sleep" })).status, 200);
    let session = send(ci, "POST", "/raw", &sleep).start();
    let (follow, signal) = (format!("/raw/{session}"), format!("/raw/{session}/signal"));
    let kill = json!({ "signal": "KILL" });
    assert_eq!(send(other, "GET", &follow, &json!({})).refusal(), (404, "no_such_session".to_owned()));
    assert_eq!(send(other, "POST", &signal, &kill).refusal(), (404, "no_such_session".to_owned()));
    assert_eq!(send(reader, "GET", &follow, &json!({})).status, 200, "the same somebody may look");
    assert_eq!(send(reader, "POST", &signal, &kill).refusal(), (403, "role_missing".to_owned()));
    assert_eq!(send(ci, "POST", &signal, &kill).status, 200);
    let listed = runward(home.path(), &["audit", "list", "--json"]).stdout;
    assert!(listed.contains("\"principal\":\"ci\""), "{listed}");
}

#[test]
fn a_token_without_a_role_or_with_a_name_that_is_taken_is_not_made() {
    let home = tempfile::tempdir().unwrap();
    for (args, why) in [
        (["token", "ci", "--roles", "root"], "there is no role \"root\"; there are run, read, answer"),
        (["token", "local", "--roles", "run"], "choose another name"),
        (["token", "ci", "--roles", ","], "a token needs a role"),
    ] {
        let ended = runward(home.path(), &args);
        assert!(ended.code == 2 && ended.stdout.is_empty() && ended.stderr.contains(why), "{ended:?}");
    }
}
