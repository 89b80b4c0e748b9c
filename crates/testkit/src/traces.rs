//! What a command leaves behind.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

/// A word that no other process on this machine has in its command line.
#[derive(Clone, Debug)]
pub struct Marker(String);

impl Marker {
    /// A new one.
    #[expect(clippy::new_without_default, reason = "two markers are never alike, so none is the default")]
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Marker(format!("marker-{}-{}-", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// The word itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The processes that carry it, this one excepted.
    pub fn carriers(&self) -> Vec<i32> {
        let own = i32::try_from(std::process::id()).unwrap();
        let pids = fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid| *pid != own && self.is_carried_by(*pid)).collect()
    }

    fn is_carried_by(&self, pid: i32) -> bool {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).contains(&self.0)
    }
}

/// Says aloud that this host lacks what a test needs.
pub fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}
