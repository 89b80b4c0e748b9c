//! The file that was hashed is the file that runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use runward_testkit::eventually;
use runward_testkit::mcp::{Client, StdioClient};
use serde_json::json;

use super::{check, server, set};
use crate::output::told;

/// How often the program is asked for while it is being replaced.
const ROUNDS: usize = 60;

fn hash(file: &Path) -> String {
    let any = set("allow if true");
    let ended = check(any.path(), &["--json", "--", file.to_str().unwrap(), "x"]);
    let verdict: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    verdict["trace"][0]["input"]["hash"].as_str().unwrap().to_owned()
}

fn executable(path: &Path, contents: &[u8]) {
    fs::write(path, contents).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn ask(server: &mut StdioClient, file: &Path) -> (bool, String) {
    told(&server.call("execute_process", json!({ "file": file })))
}

/// Ends the replacing, also when the test fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Has a program replaced over and over while only one of its two contents is allowed.
fn race(good: &[u8], bad: &[u8], is_good: impl Fn(&str) -> bool) {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program");
    executable(&program, good);
    let policy = set(&format!("allow if {{ input.direct; input.hash == \"{}\" }}", hash(&program)));
    let mut server = server(policy.path(), &[]);
    let (refused, text) = ask(&mut server, &program);
    assert!(!refused && is_good(&text), "{text}");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let next = directory.path().join("next");
            while !done.load(Ordering::Relaxed) {
                for contents in [bad, good] {
                    executable(&next, contents);
                    fs::rename(&next, &program).unwrap();
                }
            }
        });
        let _over = Over(&done);
        let (mut ran, mut stopped) = (0, 0);
        eventually("both contents are met", || {
            for _ in 0..ROUNDS {
                let (refused, text) = ask(&mut server, &program);
                assert!(refused || is_good(&text), "what nobody judged ran: {text}");
                *(if refused { &mut stopped } else { &mut ran }) += 1;
            }
            ran > 0 && stopped > 0
        });
    });
}

#[test]
fn a_program_that_is_replaced_while_it_is_judged_does_not_run() {
    let (good, bad) = (fs::read("/usr/bin/true").unwrap(), fs::read("/usr/bin/false").unwrap());
    race(&good, &bad, |text| text.starts_with("exit_code: 0\n"));
}

#[test]
fn a_script_that_is_replaced_while_it_is_judged_does_not_run() {
    race(b"#!/bin/sh\necho good\n", b"#!/bin/sh\necho bad\n", |text| {
        text.contains("good") && !text.contains("bad")
    });
}

#[test]
fn a_held_file_runs_wherever_commands_are_kept_and_however_they_are_confined() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("held-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let script = directory.join("tool");
    executable(&script, b"#!/bin/sh\necho it runs\n");
    let policy = set("allow if input.direct");
    let program = Path::new("/usr/bin/env");
    for setting in [
        ("RUNWARD_PROCESS_CONTAINMENT", "cgroup"),
        ("RUNWARD_PROCESS_CONTAINMENT", "namespace"),
        ("RUNWARD_PROCESS_CONTAINMENT", "keeper"),
        ("RUNWARD_SANDBOX_PROFILE", "read-only"),
        ("RUNWARD_SANDBOX_PROFILE", "workspace-write"),
    ] {
        let mut server = server(policy.path(), &[setting, ("RUNWARD_SANDBOX_FALLBACK", "warn")]);
        for file in [program, &script] {
            let (refused, text) = ask(&mut server, file);
            if text.contains("the runner could not be started") {
                runward_testkit::skipped(&format!("{setting:?}: {text}"));
                continue;
            }
            assert!(!refused && text.starts_with("exit_code: 0\n"), "{setting:?} {}: {text}", file.display());
        }
    }
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_script_gets_its_arguments_and_its_own_text() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("tool");
    executable(&script, b"#!/bin/sh\necho \"got $1\"; cat \"$0\" | tail -n 1\n# the end\n");
    let policy = set("allow if input.direct");
    let mut server = server(policy.path(), &[]);
    let (refused, text) = told(&server.call("execute_process", json!({ "file": script, "args": ["it"] })));
    assert!(!refused && text.contains("got it") && text.contains("# the end"), "{text}");
}

#[test]
fn a_program_is_called_by_the_name_that_was_asked_for_and_holds_no_descriptor_of_ours() {
    let policy = set("allow if input.direct");
    let mut server = server(policy.path(), &[]);
    let (refused, text) =
        told(&server.call("execute_process", json!({ "file": "ls", "args": ["/proc/self/fd"] })));
    let descriptors = text.lines().filter(|line| line.trim().parse::<u32>().is_ok()).count();
    assert!(!refused && descriptors == 4, "three of its own and the directory: {text}");
    let (_, text) = told(&server.call("execute_process", json!({ "file": "ls", "args": ["--nonsense"] })));
    assert!(text.contains("ls: "), "{text}");
}
