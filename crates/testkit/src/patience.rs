//! Waiting for something that is about to happen.

use std::time::{Duration, Instant};

/// A bound for waits that would otherwise hang; nothing is expected to take this long.
pub const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until `holds` does; panics with `what` when it does not in good time.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(PAUSE);
    }
}

/// The same where a runtime must go on meanwhile.
pub async fn eventually_async(
    what: &str,
    mut holds: impl FnMut() -> bool,
    mut pause: impl AsyncFnMut(Duration),
) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        pause(PAUSE).await;
    }
}
