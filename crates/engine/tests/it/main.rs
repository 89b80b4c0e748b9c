//! The engine against real processes, under every containment that this host offers.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

mod asking;
mod cwd;
mod ending;
mod environment;
mod limits;
mod login;
mod output;
mod recording;
mod sandbox;
mod scripted;
mod setup;
mod shells;
mod tapped;
mod terminals;
mod usage;
mod waiting;
