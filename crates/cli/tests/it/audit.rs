//! `runward audit`.

use std::path::PathBuf;
use std::time::Duration;

use runward_audit::{
    CallId, Client, Closed, Closing, Command, Entry, Judged, Output, Ruling, Started, Trail,
};
use runward_model::{Decision, Ending, Outcome, SessionId};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Ended, Program};

/// A state directory of its own.
struct State(TempDir);

impl State {
    fn empty() -> Self {
        State(tempfile::tempdir().unwrap())
    }

    /// One call that ran, one that was denied, and one that is lost, in this order.
    fn with_three_calls() -> Self {
        let state = State::empty();
        let trail = Trail::at(state.path());
        trail.append(judged("ran", "ls -l | wc", Decision::Allow)).unwrap();
        trail
            .append(Started { call: "ran".into(), session: SessionId(7), pid: 4711, sandbox: None })
            .unwrap();
        let (stdout, stderr) = (Output { bytes: 120, truncated: 20 }, Output::default());
        trail.append(Closed::ended("ran".into(), &outcome(), stdout, stderr)).unwrap();
        let denied = judged("denied", "rm -rf / --token=\u{1b}[2Jx\nnext", Decision::Deny);
        let closed = Closed::refused("denied".into(), "rm is not allowed");
        trail.append_all([denied.into(), closed.into()]).unwrap();
        let lost = Closed { call: "lost".into(), closing: Closing::Lost };
        trail.append_all([judged("lost", "sleep 100", Decision::Allow).into(), lost.into()]).unwrap();
        state
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("runward/audit.db")
    }

    fn audit(&self, args: &[&str]) -> Ended {
        Program::new(&[&["audit"], args].concat()).env("XDG_STATE_HOME", self.0.path()).run()
    }

    /// The JSON lines of an answer.
    fn lines(&self, args: &[&str]) -> Vec<Value> {
        let ended = self.audit(args);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The calls that a list shows, in its order.
    fn listed(&self, args: &[&str]) -> Vec<String> {
        let lines = self.lines(&[&["list", "--json"], args].concat());
        lines.iter().map(|line| line["call"].as_str().unwrap().to_owned()).collect()
    }

    /// Does what the trail itself never would.
    fn tamper(&self, sql: &str) {
        let connection = rusqlite::Connection::open(self.path()).unwrap();
        connection.execute_batch("DROP TRIGGER record_is_never_changed").unwrap();
        connection.execute_batch("DROP TRIGGER record_is_never_removed").unwrap();
        assert_eq!(connection.execute(sql, []).unwrap(), 1);
    }
}

fn judged(call: &str, command: &str, decision: Decision) -> Judged {
    let ruling = Ruling { decision, rule: Some("allowed_commands".into()), reason: "by the list".into() };
    let words = command.split(' ').map(str::to_owned).collect();
    Judged {
        call: CallId::from(call),
        door: "shell".into(),
        client: Some(Client { name: format!("{call}-client"), version: "1.2".into() }),
        principal: "local".into(),
        command: command.into(),
        commands: vec![Command { words, program: Some("/usr/bin/ls".into()), ruling: ruling.clone() }],
        program: Some("/usr/bin/bash".into()),
        directory: Some("/srv".into()),
        variables: vec!["LANG".into(), "TERM".into()],
        verdict: Some(ruling),
        omitted: None,
    }
}

fn outcome() -> Outcome {
    Outcome { wall: Duration::from_millis(1_250), ..Outcome::of(Ending::Exited(3)) }
}

#[test]
fn a_list_is_a_table_with_the_newest_call_first() {
    let ended = State::with_three_calls().audit(&["list"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let rows: Vec<_> = ended.stdout.lines().collect();
    let header = ["TIME", "(UTC)", "CALL", "DOOR", "CLIENT", "DECISION", "EXIT", "DURATION", "COMMAND"];
    assert_eq!(rows[0].split_whitespace().collect::<Vec<_>>(), header);
    let cells = |row: &str| row.split_whitespace().skip(2).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(cells(rows[1]), ["lost", "shell", "lost-client", "allowed", "lost", "-", "sleep", "100"]);
    assert_eq!(cells(rows[2])[..6], ["denied", "shell", "denied-client", "denied", "-", "-"]);
    assert_eq!(cells(rows[3]), ["ran", "shell", "ran-client", "allowed", "3", "1.2s", "ls", "-l", "|", "wc"]);
    assert_eq!(rows.len(), 4, "{rows:?}");
}

#[test]
fn nothing_in_a_command_steers_the_terminal() {
    let state = State::with_three_calls();
    for args in [&["list"][..], &["show", "denied"]] {
        let text = state.audit(args).stdout;
        assert!(!text.contains(|letter: char| letter.is_control() && letter != '\n'), "{text:?}");
        assert!(text.contains(r"next"), "{text}");
    }
    assert!(state.audit(&["list"]).stdout.contains(r"\nnext"));
}

#[test]
fn a_list_for_programs_has_one_object_a_call() {
    let lines = State::with_three_calls().lines(&["list", "--json"]);
    let states: Vec<_> = lines.iter().map(|line| line["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["lost", "refused", "ended"]);
    let ran = &lines[2];
    assert_eq!(
        (&ran["exit_code"], &ran["duration_ms"], &ran["session"]),
        (&json!(3), &json!(1250), &json!(7))
    );
    assert_eq!(ran["client"], json!({ "name": "ran-client", "version": "1.2" }));
    assert_eq!((&ran["command"], &ran["decision"]), (&json!("ls -l | wc"), &json!("allow")));
    assert_eq!(lines[1]["reason"], "rm is not allowed");
}

#[test]
fn filters_narrow_a_list() {
    let state = State::with_three_calls();
    assert_eq!(state.listed(&["--limit", "2"]), ["lost", "denied"]);
    assert_eq!(state.listed(&["--denied"]), ["denied"]);
    assert_eq!(state.listed(&["--client", "RAN-client"]), ["ran"]);
    assert_eq!(state.listed(&["--grep", r"ls\s-l"]), ["ran"]);
    assert_eq!(state.listed(&["--since", "1h"]), ["lost", "denied", "ran"]);
    let later = state.audit(&["list", "--since", "2999-01-01"]);
    assert_eq!((later.code, later.stdout.as_str()), (0, ""), "{later:?}");
    assert_eq!(later.stderr, "runward: no call matches\n");
}

#[test]
fn a_filter_that_means_nothing_is_a_usage_error() {
    for args in [["--since", "yesterday"], ["--grep", "("], ["--limit", "0"]] {
        let ended = State::empty().audit(&["list", args[0], args[1]]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
        assert!(ended.stderr.contains(args[0]), "{ended:?}");
    }
}

#[test]
fn a_call_is_shown_with_all_its_records() {
    let state = State::with_three_calls();
    let ended = state.audit(&["show", "ran"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    for line in [
        "record 1: judged at ",
        "  client     ran-client 1.2\n",
        "  command    ls -l | wc\n",
        "  directory  /srv\n",
        "  variables  LANG, TERM\n",
        "  decision   allowed: by the list\n",
        "  rule       allowed_commands\n",
        "record 2: started at ",
        "  process    4711\n",
        "record 3: closed at ",
        "  exit       3\n",
        "  duration   1.2s\n",
        "  stdout     120 bytes, 20 left out\n",
    ] {
        assert!(ended.stdout.contains(line), "{line:?} is missing in {}", ended.stdout);
    }
    let records = state.lines(&["show", "ran", "--json"]);
    let phases: Vec<_> = records.iter().map(|record| record["body"]["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, ["judged", "started", "closed"]);
}

#[test]
fn a_call_that_nobody_made_exits_with_1() {
    let state = State::with_three_calls();
    let ended = state.audit(&["show", "nobody\u{7}"]);
    let message = format!("runward: no call nobody\\u{{7}} at {}\n", state.path().display());
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr), (1, "", message));
}

#[test]
fn an_untouched_trail_is_clean_and_names_its_head() {
    let state = State::with_three_calls();
    let ended = state.audit(&["verify"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let (_, hash) = Trail::at(state.path()).verify().unwrap().head.unwrap();
    let expected = format!("clean: 7 records at {}\nhead: record 7, hash {hash}\n", state.path().display());
    assert_eq!(ended.stdout, expected);
    let answer = &state.lines(&["verify", "--json"])[0];
    assert_eq!((&answer["clean"], &answer["records"]), (&json!(true), &json!(7)));
    assert_eq!(answer["head"], json!({ "number": 7, "hash": hash.to_string() }));
}

#[test]
fn tampering_is_found_and_the_record_is_named() {
    for (sql, text, kind) in [
        (
            "UPDATE record SET body = replace(body, 'ls -l', 'ls -a') WHERE number = 1",
            "  record 1 edited\n",
            "edited",
        ),
        ("DELETE FROM record WHERE number = 2", "  record 2 removed\n", "removed"),
        ("DELETE FROM record WHERE number = 7", "  record 7 removed\n", "removed"),
    ] {
        let state = State::with_three_calls();
        state.tamper(sql);
        let ended = state.audit(&["verify"]);
        assert_eq!((ended.code, ended.stderr.as_str()), (1, ""), "{ended:?}");
        assert!(ended.stdout.starts_with("broken: ") && ended.stdout.contains(text), "{ended:?}");
        let ended = state.audit(&["verify", "--json"]);
        let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!((ended.code, &answer["clean"]), (1, &json!(false)), "{answer}");
        assert_eq!(answer["faults"][0]["kind"], kind, "{answer}");
    }
}

#[test]
fn a_record_that_cannot_be_read_does_not_hide_the_others() {
    let state = State::with_three_calls();
    state.tamper("UPDATE record SET body = replace(body, '\"door\"', '\"\"') WHERE number = 1");
    let ended = state.audit(&["list"]);
    assert_eq!(ended.stdout.lines().count(), 3, "{ended:?}");
    assert!(
        ended.code == 70 && ended.stderr.starts_with("runward: audit record 1 cannot be read"),
        "{ended:?}"
    );
}

#[test]
fn an_export_and_a_shown_call_go_on_past_a_record_that_cannot_be_read_and_say_so() {
    for (tampering, closing_is_known) in [
        ("UPDATE record SET body = replace(body, '\"exit_code\"', '\"\"') WHERE number = 3", true),
        ("UPDATE record SET body = 'not even JSON' WHERE number = 3", false),
        ("UPDATE record SET body = CAST(x'ff00' AS TEXT) WHERE number = 3", false),
    ] {
        let state = State::with_three_calls();
        state.tamper(tampering);
        let says = |ended: &Ended| ended.stderr.starts_with("runward: audit record 3 cannot be read");
        let shown = state.audit(&["show", "ran"]);
        assert!(shown.code == 70 && says(&shown), "{shown:?}");
        assert!(
            shown.stdout.contains("record 1: judged at ") && shown.stdout.contains("record 2: started at ")
        );
        assert_eq!(shown.stdout.contains("record 3: unreadable\n"), closing_is_known, "{shown:?}");
        let raw = state.audit(&["show", "--json", "ran"]);
        assert_eq!(raw.stdout.lines().count(), if closing_is_known { 3 } else { 2 }, "{raw:?}");
        let some = state.audit(&["export", "--grep", "rm|sleep"]);
        assert!(some.code == 70 && says(&some), "{some:?}");
        assert_eq!(some.stdout.lines().count(), 4, "{some:?}");
        let listed = state.audit(&["list"]);
        assert!(listed.code == 70 && says(&listed), "{listed:?}");
        let all = state.audit(&["export"]);
        assert_eq!((all.code, all.stdout.lines().count()), (0, 7), "{all:?}");
        let verified = state.audit(&["verify"]);
        assert!(verified.code == 1 && verified.stdout.contains("  record 3 edited\n"), "{verified:?}");
    }
}

#[test]
fn an_export_holds_every_record_the_oldest_first() {
    let state = State::with_three_calls();
    let numbers = |args: &[&str]| -> Vec<u64> {
        state.lines(args).iter().map(|line| line["number"].as_u64().unwrap()).collect()
    };
    assert_eq!(numbers(&["export"]), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(numbers(&["export", "--since", "1h", "--denied"]), [4, 5]);
    let lines = state.lines(&["export"]);
    assert!(lines.windows(2).all(|pair| pair[0]["hash"] == pair[1]["prev"]), "{lines:?}");
}

#[test]
fn a_trail_that_is_not_there_says_so_and_none_is_made() {
    let state = State::empty();
    let message = format!("nothing has been recorded yet at {}\n", state.path().display());
    for args in [&["list"][..], &["list", "--json"], &["export"]] {
        let ended = state.audit(args);
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{args:?}");
        assert_eq!(ended.stderr, format!("runward: {message}"));
    }
    let ended = state.audit(&["verify"]);
    assert_eq!((ended.code, ended.stdout, ended.stderr.as_str()), (0, message, ""));
    assert_eq!(state.lines(&["verify", "--json"])[0]["head"], Value::Null);
    assert_eq!(state.audit(&["show", "ran"]).code, 1);
    assert_eq!(std::fs::read_dir(state.0.path()).unwrap().count(), 0);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let state = State::empty();
    let trail = Trail::at(state.path());
    let many =
        (0..200).map(|number| Entry::from(judged(&number.to_string(), &"x".repeat(4096), Decision::Allow)));
    trail.append_all(many).unwrap();
    for args in [&["audit", "list", "--limit", "200"][..], &["audit", "export"], &["audit", "list", "--json"]]
    {
        let (code, stderr) = Program::new(args).env("XDG_STATE_HOME", state.0.path()).run_unread();
        assert_eq!((code, stderr.as_str()), (0, ""), "{args:?}");
    }
}

#[test]
fn the_setting_names_another_trail() {
    let state = State::with_three_calls();
    let ended = Program::new(&["audit", "verify"]).env("RUNWARD_AUDIT_PATH", state.path()).run();
    assert!(ended.code == 0 && ended.stdout.starts_with("clean: 7 records at "), "{ended:?}");
    let ended = Program::new(&["audit", "verify"]).env("RUNWARD_AUDIT_PATH", "audit.db").run();
    ended.refused(78, "RUNWARD_AUDIT_PATH: \"audit.db\" is not an absolute path; begin it with /");
}

#[test]
fn a_file_that_is_no_trail_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    std::fs::write(&path, "buy milk\n".repeat(100)).unwrap();
    let ended = Program::new(&["audit", "list"]).env("RUNWARD_AUDIT_PATH", &path).run();
    let message = format!("{} is not an audit trail; move it away or choose another path", path.display());
    ended.refused(70, &message);
}
