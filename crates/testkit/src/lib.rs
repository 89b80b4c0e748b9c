//! Tools for tests: a child that does as told, a server to drive over either transport, and patience.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test tool that cannot go on says so by panicking"
)]

pub mod mcp;
mod patience;
mod puppet;
mod server;
mod traces;

pub use patience::{PATIENCE, eventually, eventually_async};
pub use puppet::puppet;
pub use server::TestServer;
pub use traces::{Marker, skipped};

/// Where confined commands see what a test makes: `target`, the directory for temporary files of a build, unless that lies
/// among those of which confined commands have their own; then the home directory.
pub fn seen_by_the_confined(target: &str) -> std::path::PathBuf {
    const PRIVATE: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/run"];
    let target = std::path::PathBuf::from(target);
    let is_private = PRIVATE.iter().any(|private| target.starts_with(private));
    std::env::home_dir().filter(|home| is_private && home.is_dir()).unwrap_or(target)
}
