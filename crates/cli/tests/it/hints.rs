//! What a reply says to do next where a failure has its cause in the sandbox.

use runward_testkit::mcp::{Client as _, StdioClient};
use serde_json::json;

use crate::confined::Place;

/// What the reply says of the sandbox.
fn said(client: &mut StdioClient, tool: &str, line: &str) -> String {
    let result = client.call(tool, json!({ "command": line }))["result"].clone();
    let texts = result["content"].as_array().unwrap().iter();
    texts.map(|text| text["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_failure_with_a_cause_in_the_sandbox_says_what_to_do_next() {
    let place = Place::new("");
    let Some(mut client) = place.client() else { return };
    for (line, next) in [
        ("cat /tmp/of-another-client", "pass files through the workspace"),
        ("kill 99999", "list_sessions names what goes on"),
        ("echo 'sudo: a password is required' >&2; exit 1", "leave sudo or su out"),
        ("sudo() { echo 'bash: sudo: command not found' >&2; return 127; }; sudo ls", "leave sudo or su out"),
        ("echo 'No permission to enable task-clock event.' >&2; exit 255", "measure with time"),
        ("touch mine; chown 12345 mine", "leave the owner out"),
        ("echo 'pip: (from versions: none)'; exit 1", "there is no network"),
        ("echo x >&2; echo 'lookup a.example: no such host'; exit 1", "there is no network"),
        ("echo 'connect to 127.0.0.1: Connection refused' >&2; exit 7", "start the server with exec_command"),
    ] {
        for tool in ["execute_command", "shell"] {
            let said = said(&mut client, tool, line);
            assert!(said.contains(next), "{tool} {line}: {said}");
        }
    }
}

#[test]
fn what_has_another_cause_is_not_explained_away() {
    let place = Place::new("");
    let Some(mut client) = place.client() else { return };
    for line in [
        "cat missing-in-the-workspace",
        "cat /nowhere/at/all",
        "echo 'npm error ERESOLVE unable to resolve dependency tree' >&2; exit 1",
        "echo 'sudo: a password is required' >&2",
        "grep -q x /dev/null",
    ] {
        let said = said(&mut client, "execute_command", line);
        assert!(!said.contains("\nsandbox: "), "{line}: {said}");
    }
}

#[test]
fn a_file_of_another_user_in_the_workspace_is_named_with_its_owner() {
    if !rustix::process::geteuid().is_root() {
        runward_testkit::skipped("only root can make a file of another user's");
        return;
    }
    let place = Place::new("");
    let Some(mut client) = place.client() else { return };
    let theirs = place.path("work").join("theirs");
    std::fs::write(&theirs, "x").unwrap();
    std::os::unix::fs::chown(&theirs, Some(12345), None).unwrap();
    let said = said(&mut client, "execute_command", "echo y >> theirs");
    assert!(said.contains("belongs to user 12345") && said.contains("work on a copy"), "{said}");
}

#[test]
fn a_process_that_was_left_behind_and_ended_comes_with_the_way_to_have_it_go_on() {
    let place = Place::new("");
    let Some(mut client) = place.client() else { return };
    let said = said(&mut client, "execute_command", "sleep 300 >/dev/null 2>&1 & echo started");
    assert!(!said.contains("was ended") || said.contains("\nhint: Start it with exec_command"), "{said}");
}
