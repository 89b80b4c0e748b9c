//! What the trail keeps, finds and survives.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod approvals;
mod crash;
mod file;
mod lost;
mod private;
mod read;
mod record;
mod retention;
mod scribe;
mod verify;

use runward_audit::{CallId, Closed, Command, Judged, Ruling, Started, Trail};
use runward_model::{Decision, SessionId};
use tempfile::TempDir;

/// A trail in a directory of its own.
fn trail() -> (TempDir, Trail) {
    let directory = tempfile::tempdir().unwrap();
    let trail = Trail::at(directory.path().join("state/audit.db"));
    (directory, trail)
}

fn ruling(decision: Decision) -> Ruling {
    Ruling { decision, rule: Some("allowed_commands".into()), reason: "echo is allowed".into() }
}

fn judged(call: &CallId, command: &str) -> Judged {
    let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    Judged {
        call: call.clone(),
        door: "shell".into(),
        client: None,
        principal: "local".into(),
        command: command.into(),
        commands: vec![Command { words, program: Some("/bin/echo".into()), ruling: ruling(Decision::Allow) }],
        program: Some("/bin/echo".into()),
        directory: Some("/".into()),
        variables: vec!["PATH".into()],
        verdict: Some(ruling(Decision::Allow)),
        omitted: None,
    }
}

fn started(call: &CallId) -> Started {
    Started { call: call.clone(), session: SessionId(1), pid: 4711, sandbox: None }
}

/// Writes a refused call: two records.
fn refuse(trail: &Trail, command: &str) -> CallId {
    let call = CallId::fresh();
    trail.append_all([judged(&call, command).into(), Closed::refused(call.clone(), "no").into()]).unwrap();
    call
}

/// Does to the file what nobody should.
fn tamper(trail: &Trail, sql: &str) {
    let connection = rusqlite::Connection::open(trail.path()).unwrap();
    connection
        .execute_batch("DROP TRIGGER record_is_never_changed; DROP TRIGGER record_is_never_removed;")
        .unwrap();
    connection.execute_batch(sql).unwrap();
}
