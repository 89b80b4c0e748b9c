//! What the sandbox kept a command from, told once for every door.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use runward_model::{Ending, Fence, Outcome, Receipt, Stream};

use crate::diagnose::{self, Complaints, Denied, Diagnosis};
use crate::log::EventLog;
use crate::network::Unreached;

/// More of what was printed is not looked through for complaints.
const LOOKED_AT: usize = 16 * 1024;

/// What the sandbox kept a command from and what to do about it, as far as that is known: by its proxy, by what it
/// complained of, and by how it ended.
pub(crate) fn denied(
    receipt: &Receipt,
    outcome: &Outcome,
    log: &EventLog,
    unreached: &Unreached,
    held: &[CString],
) -> Option<String> {
    let fence = receipt.fence.as_deref()?;
    let (which, streams) = match outcome.ending {
        Ending::Exited(0) => (Complaints::ProtectedOnly, &[Stream::Stderr][..]),
        _ => (Complaints::All, &[Stream::Stderr, Stream::Stdout][..]),
    };
    let no_workspace = receipt.enforced.no_workspace.as_deref();
    let scene = Denied { fence, cwd: &receipt.cwd, no_workspace, owner: another_owner };
    let said = |stream: &Stream| {
        let last = log.last(*stream, LOOKED_AT);
        diagnose::diagnosed(scene, &String::from_utf8_lossy(&last), which)
    };
    let found = streams.iter().map(said).find(|found| !found.is_empty());
    let mut found = found.unwrap_or_else(|| by_its_end(fence, receipt, outcome));
    found.refused = unreached.named().into_iter().chain(found.refused).collect();
    let told: Vec<String> = found.in_words().into_iter().chain(held_back(held, fence)).collect();
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

/// What is known of the last program of a command by its exit code alone.
fn by_its_end(fence: &Fence, receipt: &Receipt, outcome: &Outcome) -> Diagnosis {
    let last = receipt.verdict.commands.last().and_then(|command| command.words.first());
    match (last, outcome.ending) {
        (Some(program), Ending::Exited(code)) => diagnose::silent(fence, program, code),
        _ => Diagnosis::default(),
    }
}

/// Who owns a file, or the directory that it would be made in, where that is another than this user. Nothing is told of
/// what a link leads to.
fn another_owner(path: &Path) -> Option<(u32, u32)> {
    let directory = path.parent()?;
    directory.canonicalize().ok().filter(|really| really == directory)?;
    let owner =
        path.ancestors().take(2).find_map(|there| there.symlink_metadata().ok()).map(|there| there.uid())?;
    let user = rustix::process::geteuid().as_raw();
    (owner != user).then_some((owner, user))
}

/// The last of what a command has complained of: on its standard error, or, where it has failed, on its other output.
pub(crate) fn complaints(outcome: &Outcome, log: &EventLog) -> String {
    let streams = match outcome.ending {
        Ending::Exited(0) => &[Stream::Stderr][..],
        _ => &[Stream::Stderr, Stream::Stdout][..],
    };
    let last = streams.iter().map(|stream| log.last(*stream, LOOKED_AT)).find(|last| !last.is_empty());
    String::from_utf8_lossy(&last.unwrap_or_default()).into_owned()
}
