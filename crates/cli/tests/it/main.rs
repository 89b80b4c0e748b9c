//! The program as its users meet it: one module a subject.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod approvals;
mod audit;
mod behaviour;
mod caches;
mod check;
mod config;
mod confined;
mod doctor;
mod everyday;
mod execution_spec;
mod fits;
mod full_disk;
mod held;
mod help;
mod identity;
mod invariants;
mod limits;
mod log;
mod mcp;
mod output;
mod patching;
mod patience;
mod policy_test;
mod program;
mod raw;
mod recording;
mod rego;
mod reply;
mod rules;
mod run_remote;
mod serve;
mod sessions;
mod shell;
mod unchanged;
mod workflow;
