//! Our own commands may not call the server that runs them, nor answer for a person.

use std::fs;

use runward_testkit::mcp::{Client, Era, StdioClient};
use runward_testkit::{eventually, skipped};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Ended, Program};
use crate::raw::server::{Raw, printed};

const PROFILES: [&str; 2] = ["full-access", "read-only"];
const CONTAINMENTS: [&str; 3] = ["auto", "namespace", "keeper"];

/// A server that runs anything, held together and confined as told; `None` where this host cannot.
fn server(profile: &str, containment: &str) -> Option<Raw> {
    let raw = Raw::with(&[
        ("ALLOWED_COMMANDS", "*"),
        ("RUNWARD_SANDBOX_PROFILE", profile),
        ("RUNWARD_PROCESS_CONTAINMENT", containment),
    ]);
    let works = raw.post("/raw", &json!({ "executable": "true" })).status == 200;
    works.then_some(raw)
}

/// A script that asks the server at this address for each path, and prints the status and the body of each answer.
fn calling(address: &str, around: &str) -> String {
    let (host, port) = address.rsplit_once(':').unwrap();
    let call = format!(
        r#"call() {{
  exec 3<>/dev/tcp/{host}/{port}
  body='{{"executable":"true"}}'
  printf 'POST %s HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %s\r\n\r\n%s' "$1" "${{#body}}" "$body" >&3
  cat <&3
  exec 3>&-
}}
all() {{ call /raw; call /check; call /mcp; }}
export -f call all
"#
    );
    call + around
}

fn said(raw: &Raw, script: &str) -> String {
    let events = raw.run(&json!({ "executable": "bash", "args": ["-c", script] })).events();
    String::from_utf8(printed(&events, "stdout")).unwrap()
}

#[track_caller]
fn all_refused(said: &str, what: &str) {
    let refusals = said.matches("own_command").count() + said.matches("caller_unknown").count();
    assert_eq!(refusals, 3, "{what}: {said}");
    assert_eq!(said.matches("HTTP/1.1 403").count(), 3, "{what}: {said}");
}

#[test]
fn a_command_may_not_call_the_server_that_runs_it_however_it_is_held() {
    for containment in CONTAINMENTS {
        for profile in PROFILES {
            let Some(raw) = server(profile, containment) else {
                skipped(&format!("{profile} in {containment} does not work here"));
                continue;
            };
            let what = format!("{profile}, {containment}");
            all_refused(&said(&raw, &calling(&raw.address, "all")), &what);
            all_refused(&said(&raw, &calling(&raw.address, "setsid -w bash -c all")), &what);
            let daemon = "exec 4>&1; ( setsid bash -c 'all >&4; echo over' & ) | { read -r over; }";
            all_refused(&said(&raw, &calling(&raw.address, daemon)), &what);
            let ordinary = raw.run(&json!({ "executable": "echo", "args": ["ordinary"] })).events();
            assert_eq!(printed(&ordinary, "stdout"), b"ordinary\n", "{what}");
        }
    }
}

/// The other server has run nothing yet, or something of its own.
#[test]
fn a_command_may_not_call_another_server_of_its_user_either() {
    for containment in CONTAINMENTS {
        for has_run in [false, true] {
            let (Some(raw), other) =
                (server("full-access", containment), Raw::with(&[("ALLOWED_COMMANDS", "*")]))
            else {
                skipped(&format!("{containment} does not work here"));
                continue;
            };
            if containment != "auto" && rustix::process::geteuid().is_root() {
                skipped("root's servers in different containments do not know each other's commands");
                continue;
            }
            if has_run {
                assert_eq!(other.post("/raw", &json!({ "executable": "true" })).status, 200);
            }
            all_refused(&said(&raw, &calling(&other.address, "all")), &format!("{containment}, {has_run}"));
        }
    }
}

#[test]
fn an_address_of_this_machine_is_none_that_hides_a_command() {
    for bind in ["[::1]:0", "0.0.0.0:0"] {
        let variables =
            [("ALLOWED_COMMANDS", "*"), ("MCP_BIND_ADDR", bind), ("RUNWARD_TOKEN", "s3cret-but-stolen")];
        let Some(raw) = Raw::bound(&variables) else {
            skipped(&format!("nothing listens at {bind} here"));
            continue;
        };
        let address = raw.address.replace("0.0.0.0", "127.0.0.1").replace(['[', ']'], "");
        let script = calling(&address, "all")
            .replace("Connection: close", "Connection: close\\r\\nAuthorization: Bearer s3cret-but-stolen");
        let script = script.replace("Host: ::1:", "Host: [::1]:");
        let bearer = [("Authorization", "Bearer s3cret-but-stolen"), ("Host", "localhost")];
        let body = json!({ "executable": "bash", "args": ["-c", script] }).to_string();
        let events = raw.send("POST", "/raw", &bearer, body.as_bytes()).events();
        let said = String::from_utf8(printed(&events, "stdout")).unwrap();
        assert_eq!(said.matches("own_command").count(), 3, "{bind}: {said}");
    }
}

/// What a command hides, or holds in a message on its way to itself, is not taken for somebody else's.
#[test]
fn a_command_that_hides_its_connection_is_refused() {
    const HIDING: &str = r#"
import ctypes, socket, sys
how, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
body = b'{"executable":"true"}'
head = f'POST /raw HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n'
if how == 'unreadable':
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
call = socket.create_connection((host, port))
if how == 'sent':
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    socket.send_fds(near, [b'x'], [call.fileno()])
    other = socket.socket(fileno=call.detach())
    other.sendall(head.encode() + body)
    other.close()
    call = socket.socket(fileno=socket.recv_fds(far, 1, 1)[1][0])
else:
    call.sendall(head.encode() + body)
print(call.makefile('rb').read().decode())
"#;
    for containment in CONTAINMENTS {
        for (profile, how) in
            PROFILES.into_iter().flat_map(|profile| [(profile, "unreadable"), (profile, "sent")])
        {
            let Some(raw) = server(profile, containment) else {
                skipped(&format!("{profile} in {containment} does not work here"));
                continue;
            };
            let (host, port) = raw.address.rsplit_once(':').unwrap();
            let body = json!({ "executable": "python3", "args": ["-c", HIDING, how, host, port] });
            let said = String::from_utf8(printed(&raw.run(&body).events(), "stdout")).unwrap();
            assert!(said.starts_with("HTTP/1.1 403"), "{profile}, {containment}, {how}: {said}");
        }
    }
}

/// Its proxy is part of the server, and nobody could tell its connections from anybody else's.
#[test]
fn a_command_does_not_reach_the_server_by_way_of_its_own_proxy() {
    const ASKING: &str = "import sys, urllib.request\nurllib.request.urlopen(sys.argv[1])";
    let raw = Raw::with(&[("ALLOWED_COMMANDS", "*"), ("RUNWARD_RAW_NETWORK", "127.0.0.1")]);
    let url = format!("http://{}/healthz", raw.address);
    let answer = raw.post(
        "/raw",
        &json!({ "executable": "python3", "args": ["-c", ASKING, url],
        "env": { "no_proxy": "" } }),
    );
    if answer.status != 200 {
        return skipped("no command can be confined to lists of hosts here");
    }
    let events = answer.events();
    let told = events.last().unwrap()["sandbox"].as_str().unwrap_or_default();
    assert!(told.contains("commands do not reach Runward itself"), "{events:?}");
}

const ASKS: &str = r#"
policy.allowed_commands = ["*"]
sandbox.profile = "full-access"
shell_tool.environment_allow = ["XDG_STATE_HOME"]

[[rule]]
pattern = ["id"]
decision = "ask"
"#;

struct Home(TempDir);

impl Home {
    fn program(&self, args: &[&str]) -> Program {
        Program::new(args)
            .env("XDG_STATE_HOME", self.0.path().join("state"))
            .env("RUNWARD_CONFIG", self.0.path().join("config.toml"))
    }

    fn runward(&self, args: &[&str]) -> Ended {
        self.program(args).run()
    }
}

fn text(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_command_may_not_see_or_answer_what_a_person_is_asked_even_outside_the_sandbox() {
    for containment in CONTAINMENTS {
        let home = Home(tempfile::tempdir().unwrap());
        fs::write(home.0.path().join("config.toml"), ASKS).unwrap();
        let program = home.program(&["stdio"]).env("RUNWARD_PROCESS_CONTAINMENT", containment);
        let mut client = StdioClient::start(program.into_command(), Era::Modern);
        if text(&client.call("execute_command", json!({ "command": "echo it works" }))).contains("it works") {
            let asked = json!({ "name": "execute_command", "arguments": { "command": "id" } });
            let waiting = client.begin("tools/call", asked);
            let mut question = Value::Null;
            eventually("the question is open", || {
                let listed = home.runward(&["approvals", "list", "--json"]).stdout;
                question =
                    serde_json::from_str(listed.lines().next().unwrap_or_default()).unwrap_or_default();
                question["id"].is_string()
            });
            let id = question["id"].as_str().unwrap();
            for how in ["", "setsid -w "] {
                for action in [format!("approvals allow {id}"), "approvals list".to_owned()] {
                    let line = format!("{how}{} {action}; true", env!("CARGO_BIN_EXE_runward"));
                    let env = json!({ "XDG_STATE_HOME": home.0.path().join("state") });
                    let script = json!({ "executable": "sh", "args": ["-c", line], "env": env });
                    let tried = text(&client.call("run_network_tool", script));
                    assert!(tried.contains("may not see or answer what it asks"), "{containment}: {tried}");
                }
            }
            assert_eq!(home.runward(&["approvals", "allow", id]).code, 0, "a person does");
            assert!(text(&client.answer(waiting)).contains("uid="), "{containment}");
        } else {
            skipped(&format!("{containment} does not work here"));
        }
    }
}
