//! Programs that are talked to.

use serde_json::json;

use super::{Reply, client, exec, write};
use runward_testkit::mcp::Client;
use runward_testkit::skipped;

fn has(program: &str) -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|directory| directory.join(program).is_file()));
    if !found {
        skipped(&format!("no {program} on this host"));
    }
    found
}

#[test]
fn a_python_prompt_is_talked_to() {
    if !has("python3") {
        return;
    }
    let mut client = client();
    let first = exec(&mut client, json!({ "cmd": "python3 -q", "tty": true, "yield_until": ">>> " }));
    let session = first.session();
    let sum = write(&mut client, json!({ "session_id": session, "chars": "6*7\n", "yield_until": "42" }));
    assert!(sum.output().contains("42"), "{}", sum.output());
    let end = write(&mut client, json!({ "session_id": session, "chars": "exit(5)\n" }));
    assert_eq!(end.exit_code(), 5, "{end:?}");
}

#[test]
fn an_editor_is_used_by_its_screen() {
    if !has("vim") && !has("vi") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut client = client();
    let editor = if has("vim") { "vim -u NONE -N" } else { "vi" };
    let cmd = format!("{editor} note.txt");
    let start = json!({ "cmd": cmd, "tty": true, "workdir": directory.path(), "yield_idle_ms": 500 });
    let session = exec(&mut client, start).session();
    write(
        &mut client,
        json!({ "session_id": session, "chars": "ihello from a screen\u{1b}", "yield_idle_ms": 300 }),
    );
    let shown = Reply::of(&client.call("read_session", json!({ "session_id": session, "screen": true })));
    assert!(shown.text().contains("hello from a screen"), "{}", shown.text());
    assert!(shown.field("cursor")["row"].is_u64());
    let end = write(&mut client, json!({ "session_id": session, "chars": ":wq\r", "yield_time_ms": 10000 }));
    assert_eq!(end.exit_code(), 0, "{end:?}");
    assert_eq!(std::fs::read_to_string(directory.path().join("note.txt")).unwrap(), "hello from a screen\n");
}

#[test]
fn a_pager_is_paged_and_left() {
    if !has("less") {
        return;
    }
    let mut client = client();
    let start = json!({ "cmd": "seq 1 500 | less", "tty": true, "yield_until": "23" });
    let session = exec(&mut client, start).session();
    let next = json!({ "session_id": session, "chars": " ", "yield_until": "46", "yield_time_ms": 10000 });
    assert!(write(&mut client, next).output().contains("46"));
    let end = write(&mut client, json!({ "session_id": session, "chars": "q", "yield_time_ms": 10000 }));
    assert_eq!(end.exit_code(), 0);
}

#[test]
fn a_question_for_a_passphrase_is_answered_without_an_echo() {
    if !has("ssh-keygen") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut client = client();
    let cmd = "ssh-keygen -q -t ed25519 -f key";
    let start = json!({ "cmd": cmd, "tty": true, "workdir": directory.path(), "yield_until": "passphrase" });
    let session = exec(&mut client, start).session();
    let again = json!({ "session_id": session, "chars": "correct horse\n", "yield_until": "again" });
    assert!(!write(&mut client, again).output().contains("horse"));
    let end = write(
        &mut client,
        json!({ "session_id": session, "chars": "correct horse\n", "yield_time_ms": 20000 }),
    );
    assert_eq!(end.exit_code(), 0, "{end:?}");
    assert!(directory.path().join("key.pub").is_file());
}

#[test]
fn a_shell_keeps_its_state_between_calls_and_another_command_does_not_see_it() {
    let mut client = client();
    let start = json!({ "cmd": "bash --norc --noprofile -i", "tty": true, "yield_until": "$ " });
    let session = exec(&mut client, start).session();
    write(
        &mut client,
        json!({ "session_id": session, "chars": "export KEPT=yes-it-is\n", "yield_until": "$ " }),
    );
    let shown = json!({ "session_id": session, "chars": "echo \"<$KEPT>\"\n", "yield_until": "<yes-it-is>" });
    assert!(write(&mut client, shown).output().contains("<yes-it-is>"));
    assert_eq!(exec(&mut client, json!({ "cmd": "echo \"<$KEPT>\"" })).output(), "<>\n");
}

#[test]
fn a_pipe_takes_input_when_asked_and_says_so_when_not() {
    let mut client = client();
    let start = json!({ "cmd": "cat; echo end", "stdin": "pipe", "yield_time_ms": 250 });
    let session = exec(&mut client, start).session();
    let echoed = write(&mut client, json!({ "session_id": session, "chars": "abc\n", "yield_until": "abc" }));
    assert_eq!(echoed.output(), "abc\n");
    let end = write(&mut client, json!({ "session_id": session, "close_stdin": true }));
    assert_eq!((end.output(), end.exit_code()), ("end\n", 0));

    let session = exec(&mut client, json!({ "cmd": "sleep 60", "yield_time_ms": 250 })).session();
    let refused = write(&mut client, json!({ "session_id": session, "chars": "abc\n" }));
    assert!(
        refused.is_error() && refused.text().contains("tty=true or stdin=\"pipe\""),
        "{}",
        refused.text()
    );
    let interrupted = write(&mut client, json!({ "session_id": session, "chars": "\u{3}" }));
    assert_eq!(interrupted.exit_code(), 130);
}

#[test]
fn a_terminal_is_resized_while_a_program_looks() {
    let mut client = client();
    let cmd = "trap 'stty size' WINCH; stty size; while :; do read -t 0.05 x; done";
    let first = exec(&mut client, json!({ "cmd": cmd, "tty": true, "yield_until": "24 80" }));
    let resize = json!({ "session_id": first.session(), "resize": { "rows": 45, "cols": 132 }, "yield_until": "45 132" });
    assert!(write(&mut client, resize).output().contains("45 132"));
    let wrong = json!({ "session_id": first.session(), "resize": { "rows": 0, "cols": 132 } });
    assert!(write(&mut client, wrong).is_error());
}

#[test]
fn what_a_session_does_not_take_is_said() {
    let mut client = client();
    let note = "not all that was written was read";
    let start = json!({ "cmd": "exec <&-; echo closed; sleep 60", "stdin": "pipe", "yield_until": "closed" });
    let deaf = exec(&mut client, start).session();
    let unread = write(&mut client, json!({ "session_id": deaf, "chars": "x" }));
    assert!(!unread.is_error() && unread.note().contains(note), "{unread:?}");
    let resized = json!({ "session_id": deaf, "resize": { "rows": 5, "cols": 5 } });
    let refused = write(&mut client, resized);
    assert!(refused.is_error() && refused.text().contains("has no terminal"), "{refused:?}");

    let start = json!({ "cmd": "echo ready; sleep 60", "stdin": "pipe", "yield_until": "ready" });
    let slow = exec(&mut client, start).session();
    let waiting = write(&mut client, json!({ "session_id": slow, "chars": "x".repeat(5_000_000) }));
    assert!(waiting.note().contains("has not read all of its input yet"), "{waiting:?}");
    let more = write(&mut client, json!({ "session_id": slow, "chars": "x" }));
    assert!(more.is_error() && more.text().contains("nothing was written"), "{more:?}");

    let lines = exec(&mut client, json!({ "cmd": "cat", "tty": true, "yield_time_ms": 250 })).session();
    let long = write(&mut client, json!({ "session_id": lines, "chars": "x".repeat(5000) }));
    assert!(long.is_error() && long.text().contains("longer than the 4095"), "{long:?}");
}

#[test]
fn whoever_writes_to_a_command_that_has_ended_hears_of_the_end() {
    let mut client = client();
    for asked in [json!({ "chars": "x" }), json!({ "signal": "INT" }), json!({ "close_stdin": true })] {
        let start = json!({ "cmd": "read x; echo bye", "stdin": "pipe", "yield_time_ms": 250 });
        let session = exec(&mut client, start).session();
        client.call("kill_session", json!({ "session_id": session }));
        let mut asked = asked;
        asked["session_id"] = json!(session);
        let end = write(&mut client, asked);
        assert!(!end.is_error() && end.exit_code() > 128, "{end:?}");
        let notes = end.0["content"].to_string();
        assert!(notes.contains("nothing was written or sent, since the command had ended"), "{notes}");
    }
}

#[test]
fn a_screen_is_shown_row_by_row() {
    let mut client = client();
    let cmd = "stty cols 20; printf 'abcdefghijklmnopqrstuvwxyz   '; sleep 60";
    let session = exec(&mut client, json!({ "cmd": cmd, "tty": true, "yield_until": "z   " })).session();
    let shown = Reply::of(&client.call("read_session", json!({ "session_id": session, "screen": true })));
    assert_eq!(shown.field("screen"), "abcdefghijklmnopqrst\nuvwxyz");
    assert_eq!(shown.field("cursor"), &json!({ "row": 2, "column": 10 }));
}

#[test]
fn a_cursor_behind_the_last_column_is_shown_in_it() {
    let mut client = client();
    let start = json!({ "cmd": "printf '%080d' 0; sleep 60", "tty": true, "yield_until": "0".repeat(80) });
    let session = exec(&mut client, start).session();
    let shown = Reply::of(&client.call("read_session", json!({ "session_id": session, "screen": true })));
    assert_eq!(shown.field("cursor"), &json!({ "row": 1, "column": 80 }));
}
