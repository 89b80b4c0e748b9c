//! `runward audit verify`: whether the trail is as it was written.

use std::io::Write;

use runward_audit::{Dropped, Fault, Trail, Verification};
use serde_json::{Value, json};

use super::{Out, is_missing, nothing_yet, place};
use crate::args::Verify;
use crate::exit::Exit;

/// Walks the trail and names everything that is wrong with it.
pub(super) fn run(args: &Verify, trail: &Trail, mut out: Out) -> anyhow::Result<Exit> {
    let found = trail.verify()?;
    if args.json {
        writeln!(out, "{}", as_json(&found, trail))?;
    } else if is_missing(trail) {
        writeln!(out, "{}", nothing_yet(trail))?;
    } else {
        tell(&mut out, &found, trail)?;
    }
    out.flush()?;
    Ok(if found.is_clean() { Exit::Success } else { Exit::No })
}

fn tell(out: &mut Out, found: &Verification, trail: &Trail) -> std::io::Result<()> {
    let result = if found.is_clean() { "clean" } else { "broken" };
    let records = if found.records == 1 { "record" } else { "records" };
    writeln!(out, "{result}: {} {records} at {}", found.records, place(trail))?;
    if let Some((time, dropped)) = &found.dropped {
        let Dropped { last, reason, .. } = dropped;
        let first = last + 1;
        writeln!(
            out,
            "from record {first}: all before it were dropped, the last of them at {time}, {reason}"
        )?;
    }
    for fault in &found.faults {
        writeln!(out, "  {fault}")?;
    }
    match found.head {
        Some((number, hash)) => writeln!(out, "head: record {number}, hash {hash}"),
        None => writeln!(out, "head: none"),
    }
}

fn as_json(found: &Verification, trail: &Trail) -> Value {
    json!({
        "clean": found.is_clean(),
        "path": trail.path().to_string_lossy(),
        "records": found.records,
        "head": found.head.map(|(number, hash)| json!({ "number": number, "hash": hash })),
        "dropped": found.dropped.as_ref().map(|(time, dropped)| json!({ "time": time, "record": dropped })),
        "faults": found.faults.iter().map(fault).collect::<Vec<_>>(),
    })
}

fn fault(fault: &Fault) -> Value {
    let (kind, first, last) = match fault {
        Fault::Removed(range) => ("removed", Some(*range.start()), Some(*range.end())),
        Fault::Edited(range) => ("edited", Some(*range.start()), Some(*range.end())),
        Fault::Moved(here, _) => ("reordered", Some(*here), Some(*here)),
        Fault::Unlinked(number) => ("unlinked", Some(*number), Some(*number)),
        Fault::Added(range) => ("added", Some(*range.start()), Some(*range.end())),
        Fault::HeadChanged => ("head_changed", None, None),
        Fault::HeadRemoved => ("head_removed", None, None),
    };
    json!({ "kind": kind, "first": first, "last": last, "text": fault.to_string() })
}
