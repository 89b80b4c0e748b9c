//! `runward audit export`: records for other programs.

use runward_audit::Trail;

use super::{Out, is_missing, nothing_yet};
use crate::args::Export;
use crate::exit::Exit;

/// Writes the records of the calls that were asked for, exactly as they were hashed.
pub(super) fn run(args: Export, trail: &Trail, mut out: Out) -> anyhow::Result<Exit> {
    if is_missing(trail) {
        eprintln!("runward: {}", nothing_yet(trail));
        return Ok(Exit::Success);
    }
    trail.export(args.choice.into_filter(), &mut out)?;
    Ok(Exit::Success)
}
