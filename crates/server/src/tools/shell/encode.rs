//! How a command ended, for programs (structured content) and for models (texts).

use std::time::Duration;

use rmcp::model::JsonObject;
use runward_model::{Ending, Outcome, Refusal, StopReason, View};
use serde_json::{Value, json};

use super::why;
use crate::tools::output::{Both, Outputs};
use crate::tools::{Refused, Reply, Seen, receipt};

/// The end of a command. One that did not succeed is an error.
pub(super) fn encode(seen: &Seen<'_>) -> Reply {
    let (view, outcome) = (seen.view, &seen.view.outcome);
    let both = Both::of(&view.stdout, &view.stderr);
    let outputs = both.within(seen.limits.first_form());
    let brief = both.within(seen.limits.second_form());
    let reason = receipt::sandbox_note(&view.receipt, outcome)
        .or_else(|| why::it_failed(outcome, &outputs.stderr.text, seen.near));
    let note = note(seen, &brief);
    let summary = summary(outcome);
    let succeeded = outcome.stopped.is_none() && outcome.ending == Ending::Exited(0);
    let reply = if succeeded { Reply::ran(summary) } else { Reply::failed(summary) };
    let reply = reply.and(brief.text());
    let remarks: Vec<&str> = [&reason, &note].into_iter().flatten().map(String::as_str).collect();
    let reply = if remarks.is_empty() { reply } else { reply.and(remarks.join("\n")) };
    reply.structured(fields(view, &outputs, reason, note))
}

/// Work that never ran. A program that cannot be started has failed as it would have in a shell.
pub(super) fn refuse(refused: &Refused<'_>) -> Reply {
    let (command, refusal) = (receipt::repeated(refused.command), refused.refusal);
    let policy = receipt::of_refusal(refusal);
    let reason = in_own_words(refusal);
    let Some(code) = shell_code(refusal) else {
        let fields = rmcp::object!({ "command": command, "reason": reason, "policy": policy });
        return Reply::failed(reason).structured(fields);
    };
    let fields = rmcp::object!({
        "command": command,
        "exit_code": code,
        "stdout": "",
        "stderr": "",
        "execution_time_ms": 0,
        "reason": reason,
        "policy": policy,
    });
    Reply::failed(format!("Command failed with exit code {code}")).and(reason).structured(fields)
}

/// What a shell says of such a program.
fn shell_code(refusal: &Refusal) -> Option<i32> {
    match refusal {
        Refusal::NotFound { .. } => Some(127),
        Refusal::NotExecutable(_) => Some(126),
        _ => None,
    }
}

/// The reason with the names that this tool's callers know.
fn in_own_words(refusal: &Refusal) -> String {
    let reason = refusal.to_string();
    let said = [("cwd ", "working_directory "), ("program not found: ", "command not found: ")];
    let own = said.iter().find_map(|(theirs, ours)| Some(format!("{ours}{}", reason.strip_prefix(theirs)?)));
    own.unwrap_or(reason)
}

fn summary(outcome: &Outcome) -> String {
    match outcome.stopped {
        Some(StopReason::TimedOut(limit)) => {
            let seconds = limit.as_secs();
            let unit = if seconds == 1 { "second" } else { "seconds" };
            format!("Command timed out after {seconds} {unit}")
        }
        Some(_) => "Command stopped before its end".to_owned(),
        None if outcome.ending == Ending::Exited(0) => "Command executed successfully".to_owned(),
        None => format!("Command failed with exit code {}", outcome.exit_code()),
    }
}

fn fields(view: &View, outputs: &Outputs, reason: Option<String>, note: Option<String>) -> JsonObject {
    let (outcome, receipt) = (&view.outcome, &view.receipt);
    let mut fields = JsonObject::new();
    let mut add = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    add("command", json!(receipt::repeated(&receipt.command)));
    if let Some(StopReason::TimedOut(limit)) = outcome.stopped {
        add("timeout_seconds", json!(limit.as_secs()));
        add("partial_stdout", json!(outputs.stdout.text));
        add("partial_stderr", json!(outputs.stderr.text));
    } else {
        add("exit_code", json!(outcome.exit_code()));
        add("stdout", json!(outputs.stdout.text));
        add("stderr", json!(outputs.stderr.text));
        add("execution_time_ms", json!(milliseconds(outcome.wall)));
    }
    add("working_directory", json!(receipt.cwd.to_string_lossy()));
    if let Ending::Signaled(signal) = outcome.ending {
        add("signal", json!(signal.to_string()));
    }
    for (name, text) in [("reason", reason), ("note", note)] {
        text.map(|text| add(name, json!(text)));
    }
    let shown = [("stdout", outputs.stdout.truncated), ("stderr", outputs.stderr.truncated)];
    for ((stream, truncated), binary) in shown.into_iter().zip(outputs.binary) {
        add(&format!("{stream}_truncated_bytes"), json!(truncated));
        if let Some(bytes) = binary {
            add(&format!("{stream}_binary"), json!(true));
            add(&format!("{stream}_bytes"), json!(bytes));
        }
    }
    if let Some(output) = &receipt.output {
        add("output_id", json!(output.0));
    }
    if let Some(left) = outcome.tree.left {
        add("session_id", json!(left.session));
    }
    add("cpu_time_ms", json!(milliseconds(outcome.usage.user + outcome.usage.system)));
    add("max_rss_kb", json!(outcome.usage.max_rss_kib));
    add("policy", receipt::of_run(receipt));
    fields
}

/// What a reader should know of an output that is not all there, and of processes that were left behind.
fn note(seen: &Seen<'_>, brief: &Outputs) -> Option<String> {
    let view = seen.view;
    let mut notes = Vec::new();
    let is_cut = brief.truncated() > 0 || brief.binary != [None; 2];
    if let Some(output) = view.receipt.output.as_ref().filter(|_| is_cut && seen.limits.offers_read_output) {
        let how_much = if view.output_note.is_none() { "the whole output" } else { "more of the output" };
        let exactly = if brief.binary == [None; 2] { "" } else { " (base64: true for the exact bytes)" };
        notes.push(format!("{how_much} can be read with read_output and output_id {output}{exactly}"));
    }
    for (name, _) in ["stdout", "stderr"].into_iter().zip(brief.lossy).filter(|(_, lossy)| *lossy) {
        notes.push(format!("{name} is not UTF-8 throughout; other bytes are shown as \u{FFFD}"));
    }
    notes.extend(view.output_note.clone());
    let tree = &view.outcome.tree;
    notes.extend(tree.left_in_words());
    if tree.ended > 0 && view.outcome.stopped.is_none() && seen.limits.offers_exec_command {
        notes.push("start it with exec_command, without &, to have it go on".to_owned());
    }
    if !tree.survivors.is_empty() {
        notes.push(format!("these processes could not be ended: {:?}", tree.survivors));
    }
    if view.outcome.output_cut {
        let what = "something still held the output open after the end, so some of it may be missing";
        notes.push(what.to_owned());
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
