//! The program as its users meet it: one module a subject.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod behaviour;
mod check;
mod config;
mod help;
mod log;
mod program;
mod reply;
mod serve;
