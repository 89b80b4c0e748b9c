//! How sessions end, and what is left of them.

use serde_json::json;

use super::{Reply, client, exec, to_the_end, write};
use runward_testkit::mcp::Client;
use runward_testkit::{Marker, eventually};

#[test]
fn a_trap_answers_an_interrupt_and_its_exit_code_is_told() {
    let mut client = client();
    for (tty, chars) in [(true, json!({ "chars": "\u{3}" })), (false, json!({ "signal": "INT" }))] {
        // A shell that waits for a program in the foreground leaves an interrupt to that program if it ends just then.
        let cmd = "trap 'echo caught; exit 42' INT; sleep 600 & echo ready; wait";
        let start = json!({ "cmd": cmd, "tty": tty, "yield_until": "ready" });
        let mut arguments = chars;
        arguments["session_id"] = json!(exec(&mut client, start).session());
        arguments["yield_time_ms"] = json!(20_000);
        let end = write(&mut client, arguments);
        assert!(end.output().contains("caught"), "{end:?}");
        assert_eq!(end.exit_code(), 42, "{end:?}");
    }
}

#[test]
fn death_by_signal_is_128_and_its_number_on_pipes_and_on_a_terminal() {
    let mut client = client();
    let directory = tempfile::tempdir().unwrap();
    // The shell itself ignores QUIT: only what it becomes may say that it is there.
    std::fs::write(directory.path().join("said"), "ready\n").unwrap();
    let cmd = "exec tail -f said";
    for tty in [false, true] {
        for (signal, code) in
            [("TERM", 143), ("KILL", 137), ("HUP", 129), ("QUIT", 131), ("USR1", 138), ("USR2", 140)]
        {
            let start =
                json!({ "cmd": cmd, "workdir": directory.path(), "tty": tty, "yield_until": "ready" });
            let session = exec(&mut client, start).session();
            let end = write(
                &mut client,
                json!({ "session_id": session, "signal": signal, "yield_time_ms": 10000 }),
            );
            assert_eq!(end.exit_code(), code, "{signal} on tty={tty}: {end:?}");
            assert_eq!(end.field("signal"), &json!(format!("SIG{signal}")));
        }
    }
}

#[test]
fn a_background_job_is_ended_and_counted_where_the_operator_wants_that() {
    let mut client = super::client_with(&[("RUNWARD_PROCESS_BACKGROUND", "kill")]);
    for tty in [false, true] {
        let reply = exec(
            &mut client,
            json!({ "cmd": "trap '' HUP; sleep 600 >/dev/null 2>&1 & echo bye", "tty": tty }),
        );
        assert!(reply.output().contains("bye"), "{reply:?}");
        assert_eq!(reply.field("background_ended"), 1, "{reply:?}");
        assert!(reply.note().contains("1 background process"), "{reply:?}");
    }
}

#[test]
fn a_background_job_lives_on_where_the_operator_keeps_them() {
    let mut client = super::client_with(&[("RUNWARD_PROCESS_BACKGROUND", "keep")]);
    let directory = tempfile::tempdir().unwrap();
    let cmd = "{ until test -e go; do sleep 0.02; done; echo done > done; } >/dev/null 2>&1 & echo started";
    let reply = exec(&mut client, json!({ "cmd": cmd, "workdir": directory.path() }));
    assert_eq!((reply.output(), reply.exit_code()), ("started\n", 0));
    assert!(reply.note().contains("go on without it"), "{reply:?}");
    std::fs::write(directory.path().join("go"), "").unwrap();
    runward_testkit::eventually("the job goes on", || directory.path().join("done").exists());
}

#[test]
fn a_server_that_ends_takes_its_sessions_with_it() {
    let mut client = client();
    let marker = Marker::new();
    let cmd = format!(
        "trap '' HUP TERM; sh -c 'sleep 600; : {0}' & setsid sh -c 'sleep 600; : {0}' & cat; : {0}",
        marker.as_str()
    );
    for tty in [false, true] {
        exec(&mut client, json!({ "cmd": cmd, "tty": tty, "stdin": "pipe", "yield_time_ms": 250 }));
    }
    eventually("they are there", || marker.carriers().len() >= 6);
    client.close_input();
    assert!(client.server().ended().success());
    assert_eq!(marker.carriers(), Vec::<i32>::new());
}

#[test]
fn a_missing_directory_is_refused_on_pipes_and_on_a_terminal() {
    let mut client = client();
    for tty in [false, true] {
        let reply = exec(&mut client, json!({ "cmd": "pwd", "workdir": "/nowhere/at/all", "tty": tty }));
        assert!(reply.is_error());
        assert_eq!(reply.text(), "cwd does not exist: /nowhere/at/all");
    }
    let reply = exec(&mut client, json!({ "cmd": "true", "workdir": "" }));
    assert_eq!(reply.exit_code(), 0);
}

#[test]
fn an_ended_session_is_told_once_and_then_where_its_output_is() {
    let mut client = client();
    let session = exec(&mut client, json!({ "cmd": "sleep 0.3; echo late", "yield_time_ms": 250 })).session();
    let (printed, last) = to_the_end(&mut client, session);
    assert_eq!((printed.as_str(), last.exit_code()), ("late\n", 0));
    let gone = write(&mut client, json!({ "session_id": session }));
    assert!(gone.is_error());
    assert!(
        gone.text().contains("has ended with exit code 0") && gone.text().contains("output_id"),
        "{}",
        gone.text()
    );
    let again = Reply::of(&client.call("read_session", json!({ "session_id": session })));
    assert_eq!((again.output(), again.exit_code()), ("late\n", 0));
    let unknown = write(&mut client, json!({ "session_id": 999_999 }));
    assert!(unknown.is_error() && unknown.text().contains("unknown session"), "{}", unknown.text());
}

#[test]
fn a_shell_must_be_one_of_the_systems_own() {
    let mut client = client();
    let directory = tempfile::tempdir().unwrap();
    let own = directory.path().join("bash");
    std::fs::copy("/bin/bash", &own).unwrap();
    for (shell, said) in [
        (json!(own), "neither on PATH nor in /etc/shells"),
        (json!("python3"), "none of the shells that can be chosen"),
        (json!("/nowhere/bash"), "program not found"),
    ] {
        let reply = exec(&mut client, json!({ "cmd": "echo hi", "shell": shell }));
        assert!(reply.is_error() && reply.text().contains(said), "{}", reply.text());
    }
    for shell in ["bash", "/bin/bash", "sh", "/bin/sh"] {
        assert_eq!(exec(&mut client, json!({ "cmd": "echo hi", "shell": shell })).output(), "hi\n");
    }
}
