//! The engine against real processes, under every containment that this host offers.
#![expect(missing_docs, reason = "tests")]

mod cwd;
mod ending;
mod environment;
mod output;
mod setup;
mod usage;
