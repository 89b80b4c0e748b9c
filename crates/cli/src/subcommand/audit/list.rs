//! `runward audit list`: a line for each call.

use std::io::Write;

use runward_audit::{Call, Error, Filter, Order, Trail};
use serde_json::json;

use super::{Out, is_missing, nothing_yet, say, say_unreadable, words};
use crate::args::List;
use crate::exit::Exit;
use crate::printable::printable;

/// Writes the calls that were asked for, the newest first. What cannot be read is said and passed over.
pub(super) fn run(args: List, trail: &Trail, mut out: Out) -> anyhow::Result<Exit> {
    if is_missing(trail) {
        eprintln!("runward: {}", nothing_yet(trail));
        return Ok(Exit::Success);
    }
    let (mut shown, mut exit) = (0, say_unreadable(trail)?);
    let filter = Filter { limit: Some(args.limit.get()), ..args.choice.into_filter() };
    for call in trail.query(filter, Order::NewestFirst) {
        match call {
            Ok(call) if args.json => writeln!(out, "{}", line(&call))?,
            Ok(call) => write_row(&mut out, &call, shown)?,
            Err(error @ Error::Body { .. }) => {
                exit = say(&error);
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        shown += 1;
    }
    out.flush()?;
    if shown == 0 {
        eprintln!("runward: no call matches");
    }
    Ok(exit)
}

fn write_row(out: &mut Out, call: &Call, shown: usize) -> std::io::Result<()> {
    if shown == 0 {
        write_columns(
            out,
            ["TIME (UTC)", "CALL", "DOOR", "CLIENT", "DECISION", "EXIT", "DURATION", "COMMAND"],
        )?;
    }
    let judged = &call.judged;
    let client = judged.client.as_ref().map_or("-", |client| client.name.as_str());
    let duration = words::ended(call).map_or_else(|| "-".to_owned(), |ended| words::duration(ended.duration));
    write_columns(
        out,
        [
            &words::time(call.time),
            &printable(judged.call.as_str()),
            &printable(&judged.door),
            &printable(client),
            words::decision(call),
            &printable(&words::exit(call)),
            &duration,
            &printable(&judged.command),
        ],
    )
}

/// Rows are written as they are found, so the columns cannot wait for the widest entry.
fn write_columns(out: &mut Out, columns: [&str; 8]) -> std::io::Result<()> {
    let [time, call, door, client, decision, exit, duration, command] = columns;
    writeln!(
        out,
        "{time:<19}  {call:<16}  {door:<16}  {client:<16}  {decision:<8}  {exit:<7}  {duration:>8}  {command}"
    )
}

/// A call for programs; `audit show --json` has all of it.
fn line(call: &Call) -> serde_json::Value {
    let judged = &call.judged;
    let ended = words::ended(call);
    let refused = call.closed.as_ref().and_then(|closed| closed.closing.reason());
    let reason = refused.or_else(|| judged.verdict.as_ref().map(|verdict| verdict.reason.as_str()));
    json!({
        "call": judged.call,
        "number": call.number,
        "time": call.time,
        "door": judged.door,
        "client": judged.client,
        "principal": judged.principal,
        "command": judged.command,
        "program": judged.program.as_ref().map(|path| path.to_string_lossy()),
        "directory": judged.directory.as_ref().map(|path| path.to_string_lossy()),
        "decision": judged.verdict.as_ref().map(|verdict| verdict.decision),
        "reason": reason,
        "answer": call.answered.as_ref().map(|answered| answered.answer.name()),
        "answered_by": call.answered.as_ref().map(|answered| &answered.by),
        "state": state(call),
        "session": call.started.as_ref().map(|started| started.session),
        "exit_code": ended.map(|ended| ended.exit_code),
        "signal": ended.and_then(|ended| ended.signal.as_deref()),
        "stopped": ended.and_then(|ended| ended.stopped.as_deref()),
        "duration_ms": ended.map(|ended| u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX)),
    })
}

fn state(call: &Call) -> &'static str {
    use runward_audit::Closing;
    match call.closed.as_ref().map(|closed| &closed.closing) {
        None => "open",
        Some(Closing::Ended(_)) => "ended",
        Some(Closing::Refused { .. }) => "refused",
        Some(Closing::Lost) => "lost",
    }
}
