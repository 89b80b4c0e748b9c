//! `runward audit show`: everything that is recorded of one call.

use std::io::{self, Write};

use runward_audit::{
    Answered, Asked, CallId, Closed, Closing, Command, Entry, Judged, Reached, Record, Started, Stored,
    Trail, Typed,
};
use runward_model::{Answer, Confinement};

use super::{Out, ended, is_missing, nothing_yet, place, say, say_unreadable, words};
use crate::args::Show;
use crate::exit::Exit;
use crate::printable::printable;

/// Writes the records of a call, in order. What cannot be read is said and passed over.
pub(super) fn run(args: &Show, trail: &Trail, mut out: Out) -> anyhow::Result<Exit> {
    if is_missing(trail) {
        eprintln!("runward: {}", nothing_yet(trail));
        return Ok(Exit::No);
    }
    let mut exit = say_unreadable(trail)?;
    let call = CallId::from(args.call.as_str());
    let records = trail.show(&call)?;
    if records.is_empty() {
        eprintln!("runward: no call {} at {}", printable(&args.call), place(trail));
        return Ok(Exit::No);
    }
    if args.json {
        trail.export_call(&call, &mut out)?;
        return Ok(exit);
    }
    for stored in &records {
        match stored.record() {
            Ok(record) => tell(&mut out, stored, &record)?,
            Err(error) => {
                writeln!(out, "record {}: unreadable", stored.number)?;
                exit = say(&error);
            }
        }
    }
    out.flush()?;
    Ok(exit)
}

fn tell(out: &mut Out, stored: &Stored, record: &Record) -> anyhow::Result<()> {
    let phase = match &record.entry {
        Entry::Judged(_) => "judged",
        Entry::Asked(_) => "asked",
        Entry::Answered(_) => "answered",
        Entry::Started(_) => "started",
        Entry::Typed(_) => "typed",
        Entry::Reached(_) => "reached",
        Entry::Closed(_) => "closed",
        Entry::Dropped(_) => "dropped",
    };
    writeln!(out, "record {}: {phase} at {}", stored.number, record.time)?;
    match &record.entry {
        Entry::Judged(judged) => tell_judged(out, judged)?,
        Entry::Asked(asked) => tell_asked(out, asked)?,
        Entry::Answered(answered) => tell_answered(out, answered)?,
        Entry::Started(started) => tell_started(out, started)?,
        Entry::Typed(typed) => tell_typed(out, typed)?,
        Entry::Reached(reached) => tell_reached(out, reached)?,
        Entry::Closed(closed) => tell_closed(out, closed)?,
        Entry::Dropped(dropped) => field(out, "reason", &dropped.reason)?,
    }
    field(out, "server", &format!("process {}", record.server.pid))?;
    field(out, "hash", &stored.hash.to_string())?;
    Ok(())
}

fn tell_judged(out: &mut Out, judged: &Judged) -> io::Result<()> {
    field(out, "call", judged.call.as_str())?;
    field(out, "door", &judged.door)?;
    if let Some(client) = &judged.client {
        field(out, "client", &format!("{} {}", client.name, client.version))?;
    }
    field(out, "principal", &judged.principal)?;
    field(out, "command", &judged.command)?;
    if let Some(omitted) = &judged.omitted {
        field(out, "", &format!("whole: {} bytes, SHA-256 {}", omitted.bytes, omitted.sha256))?;
        field(out, "", &format!("left out: {} commands, {} variables", omitted.commands, omitted.variables))?;
    }
    for (label, path) in [("program", &judged.program), ("directory", &judged.directory)] {
        if let Some(path) = path {
            field(out, label, &path.display().to_string())?;
        }
    }
    if !judged.variables.is_empty() {
        field(out, "variables", &judged.variables.join(", "))?;
    }
    if let Some(verdict) = &judged.verdict {
        field(out, "decision", &format!("{}: {}", words::decided(verdict.decision), verdict.reason))?;
        verdict.rule.iter().try_for_each(|rule| field(out, "rule", rule))?;
    }
    judged.commands.iter().try_for_each(|command| tell_command(out, command))
}

fn tell_command(out: &mut Out, command: &Command) -> io::Result<()> {
    let decision = words::decided(command.ruling.decision);
    field(out, decision, &command.words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))?;
    if let Some(program) = &command.program {
        field(out, "", &format!("program: {}", program.display()))?;
    }
    field(out, "", &format!("reason: {}", command.ruling.reason))
}

/// A word so that its ends can be seen.
fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains(char::is_whitespace) { format!("{word:?}") } else { word.to_owned() }
}

fn tell_asked(out: &mut Out, asked: &Asked) -> io::Result<()> {
    field(out, "reason", &asked.reason)?;
    if asked.confinement == Confinement::Escalated {
        field(out, "wants", "to run outside the sandbox")?;
    }
    if let Some(justification) = &asked.justification {
        field(out, "because", justification)?;
    }
    if let Some(prefix) = &asked.prefix {
        field(out, "prefix", &prefix.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))?;
    }
    let ways = if asked.ways.is_empty() { "nobody".to_owned() } else { asked.ways.join(", ") };
    field(out, "asked", &ways)
}

fn tell_answered(out: &mut Out, answered: &Answered) -> io::Result<()> {
    field(out, "answer", answered.answer.name())?;
    if let Answer::Deny { note: Some(note) } = &answered.answer {
        field(out, "note", note)?;
    }
    field(out, "by", &answered.by)
}

fn tell_typed(out: &mut Out, typed: &Typed) -> io::Result<()> {
    field(out, "typed", &typed.text)?;
    field(out, "bytes", &typed.bytes.to_string())
}

fn tell_reached(out: &mut Out, reached: &Reached) -> io::Result<()> {
    let Reached { target, addresses, decision, reason, .. } = reached;
    field(out, "host", target)?;
    for address in addresses {
        field(out, "address", &address.to_string())?;
    }
    field(out, "decision", words::decided(*decision))?;
    field(out, "reason", reason)
}

fn tell_started(out: &mut Out, started: &Started) -> io::Result<()> {
    field(out, "session", &started.session.to_string())?;
    field(out, "process", &started.pid.to_string())?;
    match &started.sandbox {
        Some(sandbox) => field(out, "sandbox", &sandbox.to_string()),
        None => Ok(()),
    }
}

fn tell_closed(out: &mut Out, closed: &Closed) -> io::Result<()> {
    match &closed.closing {
        Closing::Ended(ended) => ended::tell(out, ended),
        Closing::Refused { reason } => field(out, "refused", reason),
        Closing::Lost => field(out, "lost", "its server did not live to see its end"),
    }
}

pub(super) fn field(out: &mut Out, label: &str, value: &str) -> io::Result<()> {
    writeln!(out, "  {label:<10} {}", printable(value))
}
