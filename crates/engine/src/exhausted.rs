//! Which limit a command ran into, where the kernel tells the command alone.

use runward_model::{LimitHit, Limits, Outcome, Receipt};

/// What programs print when there is no room for another process or thread.
const NO_PROCESS: [&str; 6] = [
    "fork: retry: Resource temporarily unavailable",
    "fork: Resource temporarily unavailable",
    "Cannot fork",
    "can't start new thread",
    "BlockingIOError: [Errno 11] Resource temporarily unavailable",
    "pthread_create failed",
];

/// What they print when a file may not grow any further.
const TOO_LARGE: [&str; 3] = ["File too large", "File size limit exceeded", "EFBIG"];

/// What they print when a file system is full.
const FULL: [&str; 2] = ["No space left on device", "ENOSPC"];

/// With less free space than this, a disk may have been full a moment ago.
const ROOM: u64 = 16 << 20;

/// The limit that a command complains of, where it is held to one.
pub(crate) fn complained_of(
    receipt: &Receipt,
    outcome: &Outcome,
    limits: &Limits,
    complaints: &str,
) -> Option<LimitHit> {
    let says = |words: &[&str]| words.iter().any(|word| complaints.contains(word));
    let private = receipt.fence.as_deref().is_some_and(|fence| fence.tier.has_namespaces());
    if outcome.limit_hit.is_some() || complaints.is_empty() {
        return outcome.limit_hit;
    }
    if limits.processes.is_some() && says(&NO_PROCESS) {
        return Some(LimitHit::Processes);
    }
    if limits.file_size.is_some() && says(&TOO_LARGE) {
        return Some(LimitHit::FileSize);
    }
    // Where the disk has room, what is full is memory.
    let is_roomy = || {
        let found = rustix::fs::statvfs(&receipt.cwd);
        found.is_ok_and(|found| found.f_bavail.saturating_mul(found.f_frsize) > ROOM)
    };
    (private && says(&FULL) && is_roomy()).then_some(LimitHit::TemporaryFiles)
}
