//! Commands are confined unless somebody says otherwise, through every door; rules and doors narrow that further.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;

use runward_testkit::mcp::{Client, Era, Person, StdioClient};
use runward_testkit::{eventually, skipped};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Ended, Program};
use crate::raw::server::Raw;

/// A workspace, settings and state of their own for every test.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new(settings: &str) -> Self {
        let directory = runward_testkit::seen_by_the_confined(env!("CARGO_TARGET_TMPDIR"));
        let place = Place(tempfile::tempdir_in(directory).unwrap());
        for name in ["work", "outside"] {
            fs::create_dir(place.path(name)).unwrap();
        }
        fs::write(place.path("config.toml"), format!("policy.allowed_commands = [\"*\"]\n{settings}\n"))
            .unwrap();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn program(&self, args: &[&str]) -> Program {
        Program::new(args)
            .env("RUNWARD_SANDBOX_WRITABLE_ROOTS", "/nowhere/at/all")
            .env("XDG_STATE_HOME", self.path("state"))
            .env("RUNWARD_CONFIG", self.path("config.toml"))
            .current_dir(&self.path("work"))
    }

    /// A client, unless this host cannot confine anything.
    pub(crate) fn client(&self) -> Option<StdioClient> {
        let mut client = StdioClient::start(self.program(&["stdio"]).into_command(), Era::Modern);
        let tried = client.call("shell", json!({ "command": "true" }))["result"].clone();
        let refused =
            tried["content"][0]["text"].as_str().unwrap_or_default().contains("cannot be kept here");
        if refused {
            skipped("this host cannot keep what the sandbox promises");
        }
        (!refused).then_some(client)
    }

    fn runward(&self, args: &[&str]) -> Ended {
        self.program(args).run()
    }
}

fn call(client: &mut StdioClient, tool: &str, arguments: &Value) -> Value {
    client.call(tool, arguments.clone())["result"].clone()
}

fn all_text(result: &Value) -> String {
    let parts = result["content"].as_array().cloned().unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_tool_confines_by_default_and_names_what_it_refused() {
    let place = Place::new("");
    let Some(mut client) = place.client() else { return };
    let outside = place.path("outside/new");
    let line = format!("echo x > mine; echo x > {}", outside.display());
    for (tool, arguments) in [
        ("execute_command", json!({ "command": line })),
        ("execute_process", json!({ "file": "sh", "args": ["-c", line] })),
        ("shell", json!({ "command": line })),
        ("exec_command", json!({ "cmd": line })),
        ("exec_command", json!({ "cmd": line, "tty": true })),
        ("run_network_tool", json!({ "executable": "sh", "args": ["-c", line] })),
    ] {
        let _ = fs::remove_file(place.path("work/mine"));
        let result = call(&mut client, tool, &arguments);
        let wanted = format!("{} may not be written; to allow it, add ", outside.display());
        assert!(all_text(&result).contains(&wanted), "{tool}: {result:#}");
        assert!(place.path("work/mine").exists() && !outside.exists(), "{tool}");
    }
}

#[test]
fn the_streaming_door_confines_and_names_too() {
    let place = Place::new("");
    if place.client().is_none() {
        return;
    }
    let (outside, work) = (place.path("outside/new"), place.path("work"));
    let server =
        Raw::with(&[("ALLOWED_COMMANDS", "*"), ("RUNWARD_SANDBOX_WRITABLE_ROOTS", "/nowhere/at/all")]);
    let line = format!("echo x > mine; echo x > {}", outside.display());
    let events = server.run(&json!({ "executable": "sh", "args": ["-c", line], "cwd": work })).events();
    let last = events.last().unwrap();
    let told = last["sandbox"].as_str().unwrap_or_default();
    assert!(told.contains(&format!("{} may not be written", outside.display())), "{last}");
    assert!(work.join("mine").exists() && !outside.exists());
    let fine = server.run(&json!({ "executable": "true", "cwd": work })).events();
    assert!(fine.last().unwrap().get("sandbox").is_none(), "{fine:?}");
}

#[test]
fn settings_and_rules_in_a_workspace_are_out_of_reach() {
    let place = Place::new("");
    let work = place.path("work");
    fs::create_dir(work.join("rules")).unwrap();
    fs::write(work.join("rules/main.rego"), "package sandbox.main\nallow := true\n").unwrap();
    fs::write(
        work.join("mine.toml"),
        "approvals.rules_file = \"RULES\"".replace("RULES", work.join("granted.toml").to_str().unwrap()),
    )
    .unwrap();
    if place.client().is_none() {
        return;
    }
    let program = place.program(&["stdio", "--config", work.join("mine.toml").to_str().unwrap()]);
    let program = program.env("POLICY_DIR", work.join("rules")).env("ALLOWED_COMMANDS", "*");
    let mut client = StdioClient::start(program.into_command(), Era::Modern);
    for line in [
        "cat mine.toml",
        "echo x >> mine.toml",
        "rm mine.toml",
        "mv mine.toml other",
        "echo x >> rules/main.rego",
        "echo x > rules/more.rego",
        "mv rules elsewhere",
        "echo x > granted.toml",
    ] {
        let result = call(&mut client, "shell", &json!({ "command": line }));
        assert_eq!(result["isError"], true, "{line}: {result:#}");
    }
    let result = call(&mut client, "shell", &json!({ "command": "cat rules/main.rego; echo x > other" }));
    assert_eq!(result["isError"], false, "{result:#}");
    drop(client);
    let mut left: Vec<_> = fs::read_dir(&work).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["mine.toml", "other", "rules"]);
}

#[test]
fn a_rule_narrows_the_whole_line_wherever_its_command_stands() {
    let rule = "[[rule]]\npattern = [\"touch\"]\ndecision = \"allow\"\nprofile = \"read-only\"";
    for profile in ["workspace-write", "full-access"] {
        let place = Place::new(&format!("[sandbox]\nprofile = \"{profile}\"\n{rule}"));
        let Some(mut client) = place.client() else { return };
        for line in [
            "touch made",
            "true; touch made",
            "env -i touch made",
            "sh -c 'touch made'",
            "touch --no-create x; echo x > made",
            "echo made | xargs touch",
        ] {
            let result = call(&mut client, "shell", &json!({ "command": line }));
            assert!(!place.path("work/made").exists(), "{line}");
            let sandbox = &result["structuredContent"]["policy"]["sandbox"];
            assert_eq!(sandbox["profile"], "read-only", "{line}: {result:#}");
        }
        let result = call(&mut client, "shell", &json!({ "command": "echo x > other" }));
        assert_eq!(result["isError"], false, "{result:#}");
        assert!(place.path("work/other").exists());
        // What cannot be read could be anything.
        let unread = call(&mut client, "shell", &json!({ "command": "$x" }));
        assert_eq!(unread["isError"], true, "{unread:#}");
    }
}

#[test]
fn a_door_can_be_narrower_than_the_others() {
    let place = Place::new("[sandbox]\ndoors = [\"shell=read-only\"]");
    let Some(mut client) = place.client() else { return };
    call(&mut client, "shell", &json!({ "command": "echo x > made" }));
    assert!(!place.path("work/made").exists());
    call(&mut client, "execute_command", &json!({ "command": "echo x > made" }));
    assert!(place.path("work/made").exists());
}

#[test]
fn rules_in_rego_narrow_too() {
    let place = Place::new("");
    let policy = place.path("policy");
    fs::create_dir(&policy).unwrap();
    let write = |rules: &str| {
        fs::write(policy.join("main.rego"), format!("package sandbox.main\nallow := true\n{rules}\n"))
            .unwrap();
    };
    let start = || {
        let program = place.program(&["stdio"]).env("POLICY_DIR", &policy);
        StdioClient::start(program.into_command(), Era::Modern)
    };
    if place.client().is_none() {
        return;
    }
    write("profile := \"read-only\" if input.command == \"touch\"");
    let mut client = start();
    call(&mut client, "shell", &json!({ "command": "touch made" }));
    assert!(!place.path("work/made").exists());
    call(&mut client, "shell", &json!({ "command": "echo x > made" }));
    assert!(place.path("work/made").exists());
    write("profile := \"none\"");
    let result = call(&mut start(), "shell", &json!({ "command": "true" }));
    assert!(
        all_text(&result).contains("it has to be one of read-only, workspace-write, full-access"),
        "{result:#}"
    );
}

/// A host on this machine's loopback.
fn host() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhello");
        }
    });
    port
}

fn fetch(port: u16) -> String {
    format!(
        "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://127.0.0.1:{port}/ HTTP/1.1\\r\\n\\r\\n' >&3; timeout 20 cat <&3"
    )
}

#[test]
fn every_decision_about_a_host_is_recorded() {
    let port = host();
    let place = Place::new(&format!("[sandbox]\nnetwork = {{ allow = [\"127.0.0.1:{port}\"] }}"));
    let Some(mut client) = place.client() else { return };
    let line = format!("{}; printf 'x' | sed s/x/y/; {}", fetch(port), fetch(22));
    let result = call(&mut client, "execute_command", &json!({ "command": line }));
    assert!(all_text(&result).contains("hello"), "{result:#}");
    drop(client);
    let export = place.runward(&["audit", "export"]).stdout;
    let records: Vec<Value> = export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let reached: Vec<&Value> =
        records.iter().map(|line| &line["body"]).filter(|one| one["phase"] == "reached").collect();
    assert_eq!(reached.len(), 2, "{export}");
    assert_eq!(
        (&reached[0]["target"], &reached[0]["decision"], &reached[0]["addresses"]),
        (&json!(format!("127.0.0.1:{port}")), &json!("allow"), &json!(["127.0.0.1"]))
    );
    assert_eq!((&reached[1]["target"], &reached[1]["decision"]), (&json!("127.0.0.1:22"), &json!("deny")));
    let call = reached[0]["call"].as_str().unwrap();
    let shown = place.runward(&["audit", "show", call]).stdout;
    assert!(shown.contains("reached") && shown.contains(&format!("127.0.0.1:{port}")), "{shown}");
    assert_eq!(place.runward(&["audit", "verify"]).code, 0);
}

fn call_person(person: &mut Person, line: &str) -> Value {
    let call = person.begin("execute_command", &json!({ "command": line }));
    person.reply(call)
}

#[test]
fn people_can_be_asked_about_hosts_while_a_command_runs() {
    let port = host();
    let place = Place::new(&format!("[sandbox]\nnetwork = {{ ask = [\"127.0.0.1:{port}\"] }}"));
    if place.client().is_none() {
        return;
    }
    for (answer, said) in [("allow", "hello"), ("deny", "may not be reached: denied by ")] {
        let mut person = Person::stdio(place.program(&["stdio"]).into_command(), Era::Modern);
        let line = format!("{}; {}", fetch(port), fetch(port));
        let call = person.begin("execute_command", &json!({ "command": line }));
        let mut open = Vec::new();
        eventually("the question is open", || {
            open =
                place.runward(&["approvals", "list", "--json"]).stdout.lines().map(str::to_owned).collect();
            open.len() == 1
        });
        let question: Value = serde_json::from_str(&open[0]).unwrap();
        let told = question.to_string();
        assert!(told.contains(&format!("wants to reach 127.0.0.1:{port}")), "{told}");
        let id = question["id"].as_str().or(question["question"]["id"].as_str()).unwrap();
        assert_eq!(place.runward(&["approvals", answer, id]).code, 0);
        let result = person.reply(call);
        assert!(all_text(&result).matches(said).count() >= 2, "asked once, it holds for the run: {result:#}");
    }
    let mut person = Person::stdio(place.program(&["stdio"]).into_command(), Era::Legacy);
    let call = person.begin("execute_command", &json!({ "command": fetch(port) }));
    let form = person.form(call);
    assert!(form["message"].as_str().unwrap().contains("wants to reach"), "{form}");
    let result = person.decide(call, "approve for this session");
    assert!(all_text(&result).contains("hello"), "{result:#}");
    let again = call_person(&mut person, &fetch(port));
    assert!(all_text(&again).contains("hello"), "a session is asked once: {again:#}");
    drop(person);
    let listed = place.runward(&["audit", "list"]).stdout;
    assert!(!listed.contains("approved"), "what ran was allowed, not approved: {listed}");
}

#[test]
fn what_is_wrong_with_a_list_of_hosts_is_said_at_the_start() {
    let place = Place::new("[sandbox]\nnetwork = { allow = [\"https://example.com/x\"] }");
    let ended = place.runward(&["check", "--", "true"]);
    assert_ne!(ended.code, 0);
    assert!(
        ended.stderr.contains("sandbox.network") && ended.stderr.contains("is no host; write a name"),
        "{ended:?}"
    );
}
