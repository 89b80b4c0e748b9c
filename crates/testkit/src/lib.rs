//! Tools for tests: a child that does as told, a server to drive, and patience.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test tool that cannot go on says so by panicking"
)]

mod patience;
mod puppet;
mod traces;

pub use patience::{eventually, eventually_async};
pub use puppet::puppet;
pub use traces::{Marker, skipped};
