//! What the sandbox kept a command from, told once for every door.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use runward_model::{Ending, Fence, Outcome, Receipt, Stream};

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
    held: &[CString],
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
    let refused = (!named.is_empty()).then(|| format!("the sandbox refused this: {}", named.join("; ")));
    let told: Vec<String> = refused.into_iter().chain(held_back(held, fence)).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// What of its files is held back, and who may change that.
fn held_back(held: &[CString], fence: &Fence) -> Option<String> {
    let root = |path: &Path| {
        let roots =
            fence.writable.iter().map(|root| Path::new(OsStr::from_bytes(root.as_bytes())).to_owned());
        roots.filter(|root| path.starts_with(root)).max_by_key(|root| root.as_os_str().len())
    };
    let shown = |path: &CString| {
        let path = Path::new(OsStr::from_bytes(path.as_bytes()));
        let short = root(path).and_then(|root| path.strip_prefix(root).ok().map(Path::to_owned));
        short.unwrap_or_else(|| path.to_owned()).display().to_string()
    };
    let names: Vec<String> = held.iter().map(shown).collect();
    (!names.is_empty()).then(|| {
        format!(
            "held back, since it runs code for other programs: {}; commands in the sandbox see it, nobody else does until a person runs `runward held`",
            names.join(", ")
        )
    })
}
