//! Tools for tests: a child that does as told, a machine that a test plays, a server to drive over either transport, and
//! patience.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test tool that cannot go on says so by panicking"
)]

mod cage;
mod executed;
mod grammar;
pub mod mcp;
mod patience;
mod puppet;
mod scripted;
mod server;
mod settings;
mod traces;

pub use cage::Cage;
pub use executed::{Executed, Recorded, executed};
pub use grammar::{Calm, Dice, Grammar};
pub use patience::{PATIENCE, eventually, eventually_async};
pub use puppet::puppet;
pub use scripted::{ScriptedCommand, ScriptedHost, Spawned};
pub use server::TestServer;
pub use settings::engine_settings;
pub use traces::{Marker, skipped};

/// Where confined commands see what a test makes: `target`, the directory for temporary files of a build, unless that lies
/// among those of which confined commands have their own; then the home directory.
pub fn seen_by_the_confined(target: &str) -> std::path::PathBuf {
    let target = std::path::PathBuf::from(target);
    let is_private = runward_model::PrivateDirectory::around(&target).is_some();
    std::env::home_dir().filter(|home| is_private && home.is_dir()).unwrap_or(target)
}
