//! A disk that is really full.

use std::fs;
use std::path::{Path, PathBuf};

use runward_testkit::mcp::{Client, Era, StdioClient};
use runward_testkit::{eventually, skipped};
use serde_json::{Value, json};

use crate::output::told;
use crate::program::Program;

/// The program where this directory is a disk of 1 MiB.
fn start(directory: &Path, variables: &[(&str, PathBuf)]) -> Option<StdioClient> {
    let program = Program::new(&["stdio"]).env("ALLOWED_COMMANDS", "*").env("RUNWARD_LIMITS_OUTPUT", "1KiB");
    let program = variables.iter().fold(program, |program, (name, value)| program.env(name, value));
    let Some(program) = program.on_small_disk(directory, 1024) else {
        skipped("this host lets nobody mount a small disk");
        return None;
    };
    Some(StdioClient::start(program.into_command(), Era::Modern))
}

fn shell(client: &mut StdioClient, command: &str) -> Value {
    client.call("shell", json!({ "command": command }))["result"].take()
}

#[test]
fn a_full_disk_takes_away_output_but_not_the_result() {
    let disk = tempfile::tempdir().unwrap();
    let output = [("RUNWARD_OUTPUT_DIRECTORY", disk.path().join("output"))];
    let Some(mut client) = start(disk.path(), &output) else { return };
    let flood = shell(&mut client, "seq 500000; exit 3");
    let fields = &flood["structuredContent"];
    assert_eq!((&flood["isError"], &fields["exit_code"]), (&json!(true), &json!(3)), "{flood}");
    let note = fields["note"].as_str().unwrap();
    assert!(note.contains("Output was not kept whole, since the disk is full"), "{note}");
    assert!(fields["stdout"].as_str().unwrap().ends_with("\n500000\n"), "{flood}");
    let asked = json!({ "output_id": fields["output_id"], "offset": 1000, "limit": 1 });
    let (_, page) = told(&client.call("read_output", asked));
    assert!(page.contains("\n  1000\t1000\n") && page.contains("since the disk is full]"), "{page}");
    for _ in 0..3 {
        let next = shell(&mut client, "seq 100000");
        assert_eq!(next["structuredContent"]["exit_code"], 0, "{next}");
    }
    assert_eq!(shell(&mut client, "echo still here")["structuredContent"]["stdout"], "still here\n");
}

#[test]
fn what_cannot_be_recorded_for_want_of_room_is_refused_until_there_is_room() {
    let disk = tempfile::tempdir().unwrap();
    let Some(mut client) = start(disk.path(), &[("XDG_STATE_HOME", disk.path().to_owned())]) else { return };
    assert_eq!(shell(&mut client, "echo recorded")["isError"], false);
    let filler = disk.path().join("filler");
    shell(&mut client, &format!("head -c 5000000 /dev/zero > {}", filler.display()));
    let mut refused = Value::Null;
    eventually("there is no room for a record", || {
        refused = shell(&mut client, "echo unrecorded");
        refused["isError"] == true
    });
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("cannot write to the audit trail") && text.contains("the disk is full; free"),
        "{text}"
    );
    assert!(!refused.to_string().contains("\"exit_code\""), "it did not run: {refused}");
    let inside = format!("/proc/{}/root{}", client.server().pid(), filler.display());
    fs::remove_file(inside).unwrap();
    assert_eq!(shell(&mut client, "echo again")["structuredContent"]["stdout"], "again\n");
    let command = "for i in 1 2 3; do echo $i; done";
    assert_eq!(shell(&mut client, command)["structuredContent"]["exit_code"], 0);
}
