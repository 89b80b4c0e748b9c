//! What the sandbox kept a command from, told once for every door.

use runward_model::{Ending, Outcome, Receipt, Stream};

use crate::diagnose::{self, Complaints, Denied};
use crate::log::EventLog;
use crate::network::Unreached;

/// More of what was printed is not looked through for complaints.
const LOOKED_AT: usize = 16 * 1024;

/// What the sandbox kept a command from, as far as that is known: by its proxy, and by what it complained of.
pub(crate) fn denied(
    receipt: &Receipt,
    outcome: &Outcome,
    log: &EventLog,
    unreached: &Unreached,
) -> Option<String> {
    let fence = receipt.fence.as_deref()?;
    let mut named = unreached.named();
    let (which, streams) = match outcome.ending {
        Ending::Exited(0) => (Complaints::ProtectedOnly, &[Stream::Stderr][..]),
        _ => (Complaints::All, &[Stream::Stderr, Stream::Stdout][..]),
    };
    let last: Vec<Vec<u8>> = streams.iter().map(|stream| log.last(*stream, LOOKED_AT)).collect();
    let complaints = last.iter().find(|last| !last.is_empty()).map(Vec::as_slice).unwrap_or_default();
    let scene = Denied { fence, cwd: &receipt.cwd, no_workspace: receipt.enforced.no_workspace.as_deref() };
    named.extend(diagnose::denied(scene, &String::from_utf8_lossy(complaints), which));
    (!named.is_empty()).then(|| format!("the sandbox refused this: {}", named.join("; ")))
}
