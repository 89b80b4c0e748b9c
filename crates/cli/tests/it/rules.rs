//! Rules of the settings file, as callers of every tool meet them.

use std::fs::{self, File};
use std::process::Command;

use runward_testkit::mcp::{Client, Era, StdioClient};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::Program;

const RULES: &str = r#"
[shell_tool]
allowed_commands = ["*"]
blocked_commands = ["rm -rf"]
blocked_patterns = ["^cat /etc/shadow"]
environment_allow = ["GIT_AUTHOR_*"]
environment_deny = ["NO_*"]
inherit_also = ["NAMED_TOKEN"]

[approvals]
local = false

[[rule]]
pattern = ["id"]
decision = "ask"
justification = "who are you?"
"#;

/// A server with these settings and whatever else it takes.
fn told(settings: &str) -> (TempDir, Command) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rules.toml");
    fs::write(&file, settings).unwrap();
    let command = Program::new(&["stdio", "--config", file.to_str().unwrap()])
        .env("HOME", "/nowhere")
        .env("EDITOR", "vi")
        .env("API_KEY", "k1")
        .env("NAMED_TOKEN", "t1")
        .into_command();
    (directory, command)
}

fn calls(line: &str) -> [(&'static str, Value); 3] {
    [
        ("shell", json!({ "command": line })),
        ("execute_command", json!({ "command": line })),
        ("execute_process", json!({ "file": "bash", "args": ["-c", line] })),
    ]
}

#[test]
fn every_rule_holds_for_every_tool() {
    let (_directory, command) = told(RULES);
    let mut client = StdioClient::start(command, Era::Modern);
    for (line, said) in [
        ("echo a; rm -fr /nowhere/at/all", "\"rm -rf\" is blocked by blocked_commands"),
        ("sh -c 'env rm --force --recursive /nowhere'", "\"rm -rf\" is blocked by blocked_commands"),
        ("echo a | cat /etc/shadow", "in blocked_patterns blocks this command"),
        ("id", "nobody is there to ask"),
        ("$x", "cannot be judged"),
    ] {
        for (tool, arguments) in calls(line) {
            let answer = client.call(tool, arguments)["result"].clone();
            assert_eq!(answer["isError"], true, "{tool} {line}: {answer}");
            let text = answer["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(said), "{tool} {line}: {answer}");
        }
    }
    for (tool, arguments) in calls("echo \"rm -rf /\"; printf dd") {
        let answer = client.call(tool, arguments)["result"].clone();
        assert_eq!(answer["isError"], false, "{tool}: {answer}");
    }
}

#[test]
fn callers_may_give_variables_that_do_not_decide_what_runs_and_those_that_the_operator_names() {
    let (_directory, command) = told(RULES);
    let mut client = StdioClient::start(command, Era::Modern);
    let mut shell = |name: &str| {
        let mut variables = serde_json::Map::new();
        variables.insert(name.to_owned(), json!("x y"));
        let arguments = json!({ "command": format!("printenv {name}"), "environment": variables });
        client.call("shell", arguments)["result"].clone()
    };
    for name in ["GREETING", "GIT_AUTHOR_NAME"] {
        assert_eq!(shell(name)["structuredContent"]["stdout"], "x y\n", "{name}");
    }
    for name in ["PATH", "LD_PRELOAD", "BASH_ENV", "GIT_SSH_COMMAND", "NO_COLOR", "A-B"] {
        let answer = shell(name);
        assert_eq!(answer["isError"], true, "{name}");
        assert!(answer["content"].to_string().contains(name), "{answer}");
    }
}

#[test]
fn commands_inherit_a_core_environment_and_what_is_named() {
    let names = |settings: &str| {
        let (_directory, command) = told(settings);
        let mut client = StdioClient::start(command, Era::Modern);
        let answer = client.call("shell", json!({ "command": "env" }))["result"].clone();
        let printed = answer["structuredContent"]["stdout"].as_str().unwrap().to_owned();
        // What stands in for editors and pagers where there is no terminal.
        let stands_in = |line: &&str| line.ends_with("PAGER=cat") || line.ends_with("=true");
        // What all tests are started with.
        let of_tests = |line: &&str| line.starts_with("GIT_CEILING_DIRECTORIES=");
        let lines = printed.lines().filter(|line| !stands_in(line) && !of_tests(line));
        let mut names: Vec<_> = lines.filter_map(|line| line.split('=').next()).map(str::to_owned).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(names(RULES), ["HOME", "NAMED_TOKEN", "PATH", "PWD", "XDG_STATE_HOME"]);
    let all = "policy.allowed_commands = [\"*\"]\nshell_tool.inherit_environment = \"all\"";
    assert_eq!(names(all), ["EDITOR", "HOME", "PATH", "PWD", "XDG_STATE_HOME"]);
    let none = "policy.allowed_commands = [\"*\"]\nshell_tool.inherit_environment = \"none\"";
    assert_eq!(names(none), ["PATH", "PWD"]);
    let both = "policy.allowed_commands = [\"*\"]\n[shell_tool]\ninherit_environment = \"core\"\n\
        environment_allow = [\"EDITOR\", \"API_*\"]\nenvironment_deny = [\"HOME\", \"XDG_*\"]";
    assert_eq!(names(both), ["API_KEY", "EDITOR", "PATH", "PWD"]);
}

#[test]
fn the_log_tells_of_commands_unless_it_is_told_not_to() {
    for (log_commands, wanted) in [(true, 1), (false, 0)] {
        let settings = format!(
            "policy.allowed_commands = [\"*\"]\nshell_tool.log_commands = {log_commands}\nlog.filter = \"info,rmcp=off\""
        );
        let (directory, mut command) = told(&settings);
        let log = directory.path().join("log");
        command.stderr(File::create(&log).unwrap());
        let mut client = StdioClient::start(command, Era::Modern);
        client.call("execute_command", json!({ "command": "echo hello --password=hunter22" }));
        client.call("execute_command", json!({ "command": "echo hello", "cwd": "/no/such/directory" }));
        drop(client);
        let text = fs::read_to_string(&log).unwrap();
        for event in [" started ", " closed ", " refused "] {
            assert_eq!(text.matches(event).count(), wanted, "{event} with {log_commands}: {text}");
        }
        assert!(!text.contains("hunter22"), "{text}");
    }
}
