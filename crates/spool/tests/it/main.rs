//! The spool against a plain vector and against a full house.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

mod journal;
mod pages;
mod room;
mod writing;
