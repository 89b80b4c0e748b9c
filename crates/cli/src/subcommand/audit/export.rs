//! `runward audit export`: records for other programs.

use runward_audit::Trail;

use super::{Out, is_missing, nothing_yet, say, say_unreadable};
use crate::args::Export;
use crate::exit::Exit;

/// Writes the records of the calls that were asked for, exactly as they were hashed. What cannot be read is said and
/// passed over.
pub(super) fn run(args: Export, trail: &Trail, mut out: Out) -> anyhow::Result<Exit> {
    if is_missing(trail) {
        eprintln!("runward: {}", nothing_yet(trail));
        return Ok(Exit::Success);
    }
    let filter = args.choice.into_filter();
    // Without a filter everything is handed over as it is, readable or not.
    let mut exit = if filter.is_open() { Exit::Success } else { say_unreadable(trail)? };
    trail.export(filter, &mut out, |error| exit = say(&error))?;
    Ok(exit)
}
