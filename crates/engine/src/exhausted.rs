//! Which limit a command ran into, where the kernel tells the command alone.

use runward_model::{LimitHit, Limits, Outcome};

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

/// The limit that a command complains of, where it is held to one.
pub(crate) fn complained_of(outcome: &Outcome, limits: &Limits, complaints: &str) -> Option<LimitHit> {
    let says = |words: &[&str]| words.iter().any(|word| complaints.contains(word));
    match outcome.limit_hit {
        // That there is no room left says nothing about a command that did not want any.
        Some(LimitHit::TemporaryFiles) if !says(&FULL) => return None,
        Some(hit) => return Some(hit),
        None => {}
    }
    if limits.processes.is_some() && says(&NO_PROCESS) {
        return Some(LimitHit::Processes);
    }
    if limits.file_size.is_some() && says(&TOO_LARGE) {
        return Some(LimitHit::FileSize);
    }
    None
}
