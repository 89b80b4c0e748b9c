//! What a reply looks like, and how much it shows.

use serde_json::json;

use super::{client, exec, to_the_end, write};

#[test]
fn a_reply_has_its_lines_in_order() {
    let reply = exec(&mut client(), json!({ "cmd": "printf 'hello\\n'; exit 3" }));
    let lines: Vec<&str> = reply.text().split('\n').collect();
    let id = lines[0].strip_prefix("Chunk ID: ").unwrap();
    assert!(id.len() == 6 && id.chars().all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase()), "{id}");
    let wall = lines[1].strip_prefix("Wall time: ").and_then(|rest| rest.strip_suffix(" seconds")).unwrap();
    assert_eq!(wall.split_once('.').unwrap().1.len(), 4, "{wall}");
    let rest = ["Process exited with code 3", "Original token count: 2", "Output:", "hello", ""];
    assert_eq!(lines[2..], rest);
    assert!(!reply.is_error());
    assert_eq!((reply.output(), reply.exit_code()), ("hello\n", 3));
    assert_eq!(reply.field("chunk_id"), id);
    assert_eq!(reply.field("original_token_count"), 2);
    assert!(reply.field("session_id").is_null());
}

#[test]
fn a_command_that_goes_on_has_a_session_and_its_output_comes_later() {
    let mut client = client();
    let reply = exec(&mut client, json!({ "cmd": "sleep 0.4; echo ready", "yield_time_ms": 10 }));
    let session = reply.session();
    assert!(
        reply.text().contains(&format!("\nProcess running with session ID {session}\n")),
        "{}",
        reply.text()
    );
    assert_eq!(reply.output(), "");
    let (printed, last) = to_the_end(&mut client, session);
    assert_eq!((printed.as_str(), last.exit_code()), ("ready\n", 0));
}

#[test]
fn both_ends_of_a_long_output_are_shown_within_the_budget() {
    let reply = exec(&mut client(), json!({ "cmd": "seq 100000", "max_output_tokens": 200 }));
    let output = reply.output();
    assert!(output.len() <= 800, "{}", output.len());
    assert!(output.contains("\n1\n2\n") && output.ends_with("\n100000\n"), "{output}");
    assert_eq!(output.matches(" tokens truncated…").count(), 1);
    assert_eq!(reply.field("original_token_count"), 147_224);
    assert!(reply.note().contains("read_output"), "{}", reply.note());
}

#[test]
fn the_beginning_of_a_flood_is_read_back_and_its_count_is_true() {
    let cmd = "echo BEGIN; head -c 30000000 /dev/zero | tr '\\0' x; echo; echo END";
    let reply = exec(&mut client(), json!({ "cmd": cmd, "yield_time_ms": 30000, "max_output_tokens": 100 }));
    assert_eq!(reply.exit_code(), 0);
    assert_eq!(reply.field("original_token_count"), 7_500_003);
    assert!(
        reply.output().contains("BEGIN\nxxx") && reply.output().ends_with("xxx\nEND\n"),
        "{}",
        reply.output()
    );
}

#[test]
fn the_operator_bounds_what_a_caller_may_ask_for() {
    let mut client = super::client_with(&[("RUNWARD_LIMITS_REPLY_TOKENS", "50")]);
    let reply = exec(&mut client, json!({ "cmd": "seq 9999", "max_output_tokens": 70000 }));
    assert!(reply.output().len() <= 200, "{}", reply.output());
}

#[test]
fn what_is_written_to_a_terminal_is_bounded_alike() {
    let mut client = super::client_with(&[("RUNWARD_LIMITS_REPLY_TOKENS", "50")]);
    let start = json!({ "cmd": "stty -echo; echo ready; cat", "tty": true, "yield_until": "ready" });
    let session = exec(&mut client, start).session();
    let lines = "0123456789\n".repeat(999) + "END\n";
    let written = json!({ "session_id": session, "chars": lines, "yield_until": "END", "yield_time_ms": 20000, "max_output_tokens": 70000 });
    let reply = write(&mut client, written);
    assert!(reply.output().len() <= 200, "{}", reply.output());
    assert_eq!(reply.output().matches(" tokens truncated…").count(), 1, "{}", reply.output());
    assert_eq!(reply.field("original_token_count"), 12 * 999 / 4 + 2);
}

#[test]
fn outputs_come_in_arrival_order_and_apart_when_asked_for() {
    let cmd = "echo one; sleep 0.05; echo two >&2; sleep 0.05; echo three";
    let reply = exec(&mut client(), json!({ "cmd": cmd, "separate_streams": true }));
    assert_eq!(reply.output(), "one\ntwo\nthree\n");
    assert_eq!((reply.field("stdout"), reply.field("stderr")), (&json!("one\nthree\n"), &json!("two\n")));
}

#[test]
fn each_output_says_how_much_of_it_is_missing() {
    let cmd = "seq 100000; seq 100000 >&2; sleep 0.3; echo END";
    let arguments = json!({ "cmd": cmd, "separate_streams": true, "max_output_tokens": 200 });
    let reply = exec(&mut client(), arguments);
    for stream in ["stdout", "stderr"] {
        let shown = reply.field(stream).as_str().unwrap();
        assert_eq!(shown.matches(" tokens truncated…").count(), 1, "{stream}: {shown}");
    }
    assert!(reply.field("stdout").as_str().unwrap().ends_with("END\n"), "{reply:?}");
}

#[test]
fn a_warning_counts_what_the_reply_counts() {
    let cmd = "for i in $(seq 500); do printf '\\033[1mbold\\033[0m\\n'; done";
    let reply = exec(&mut client(), json!({ "cmd": cmd, "max_output_tokens": 200 }));
    assert_eq!(reply.field("original_token_count"), 1625);
    assert!(
        reply.output().starts_with("Warning: truncated output (original token count: 1625)"),
        "{reply:?}"
    );
}

#[test]
fn a_character_that_is_torn_by_a_reply_comes_whole_in_the_next() {
    let mut client = client();
    let cmd = r"printf '\xc3'; read -r x; printf '\xa9!\n'";
    let first = exec(&mut client, json!({ "cmd": cmd, "stdin": "pipe", "yield_time_ms": 300 }));
    assert_eq!(first.output(), "");
    let second = write(&mut client, json!({ "session_id": first.session(), "chars": "go\n" }));
    assert_eq!(second.output(), "é!\n");
}

#[test]
fn an_escape_sequence_that_is_torn_by_a_reply_leaves_no_letters_behind() {
    let mut client = client();
    let cmd = r"printf 'a\033[3'; read -r x; printf '1mred\033[0m\n'";
    let first = exec(&mut client, json!({ "cmd": cmd, "stdin": "pipe", "yield_time_ms": 300 }));
    assert_eq!(first.output(), "a");
    let second = write(&mut client, json!({ "session_id": first.session(), "chars": "go\n" }));
    assert_eq!(second.output(), "red\n");
}

#[test]
fn a_pattern_or_quiet_ends_the_wait() {
    let mut client = client();
    for wait in [
        json!({ "yield_until": "eady" }),
        json!({ "yield_until": "/^r[a-z]+y$/" }),
        json!({ "yield_idle_ms": 100 }),
    ] {
        let mut arguments = json!({ "cmd": "echo ready; sleep 25", "yield_time_ms": 20000 });
        arguments.as_object_mut().unwrap().extend(wait.as_object().unwrap().clone());
        let reply = exec(&mut client, arguments);
        assert_eq!(reply.output(), "ready\n");
        assert!(reply.field("wall_time_seconds").as_f64().unwrap() < 20.0);
    }
    let on_terminal = json!({ "cmd": "echo ready; sleep 25", "tty": true, "yield_time_ms": 20000, "yield_until": "/^ready$/" });
    assert!(exec(&mut client, on_terminal).field("wall_time_seconds").as_f64().unwrap() < 20.0);
    let reply = exec(&mut client, json!({ "cmd": "echo x", "yield_until": "/(/" }));
    assert!(reply.is_error() && reply.text().starts_with("yield_until is no pattern"), "{}", reply.text());
}

#[test]
fn pipes_are_told_not_to_draw_and_terminals_what_they_can() {
    let mut client = client();
    let cmd = "echo \"$TERM|$NO_COLOR|$PAGER|$GIT_PAGER|$LC_ALL\"; test -t 1 && echo tty";
    assert_eq!(exec(&mut client, json!({ "cmd": cmd })).output(), "dumb|1|cat|cat|C.UTF-8\n");
    assert_eq!(exec(&mut client, json!({ "cmd": cmd, "tty": true })).output(), "xterm-256color||||\ntty\n");
}

#[test]
fn a_pattern_is_looked_for_in_what_is_shown() {
    let mut client = client();
    let painted = r"printf '\033[1mre\033[0mad\033[32my\033[0m\n'; sleep 25";
    let reply = exec(&mut client, json!({ "cmd": painted, "yield_time_ms": 20000, "yield_until": "ready" }));
    assert_eq!(reply.output(), "ready\n");
    assert!(reply.field("wall_time_seconds").as_f64().unwrap() < 20.0);
    // A letter of an escape sequence, and a line that was drawn over.
    let cmd = r"printf '\033[31mx\033[0m\nwait\rgone\n'; sleep 0.2; echo over";
    for never in ["31m", "wait"] {
        let reply = exec(&mut client, json!({ "cmd": cmd, "yield_time_ms": 20000, "yield_until": never }));
        assert_eq!(reply.output(), "x\ngone\nover\n");
    }
}
