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
