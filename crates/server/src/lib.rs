//! The doors: MCP tools over stdio and streamable HTTP.
//!
//! A tool is data and two pure functions (`tools`); it never sees the engine. One generic caller (`call`) serves them
//! all: check the arguments, decode, start, watch until the end, encode. [`Mcp`] speaks the protocol, and the doors
//! carry it.
//!
//! To add a tool, write `tools/NAME.rs` and name it in the table of `tools/mod.rs`.

pub mod approvals;
mod arguments;
mod call;
mod clean;
pub mod http;
mod json;
mod mcp;
mod raw;
mod settings;
pub mod stdio;
mod tokens;
mod tools;
mod yaml;

pub use mcp::{Disconnected, Mcp, UnknownTool};
pub use raw::{RAW, RawSettings};
pub use runward_engine::Engine;
pub use settings::{HttpSettings, Settings};
pub use tokens::{Role, Roles, Tokens, hash_of};
#[doc(hidden)]
pub use yaml::sample as yaml_sample;

/// The names of every tool that can be offered, in the order in which they are listed.
pub fn tool_names() -> Vec<&'static str> {
    tools::TOOLS.iter().map(|tool| tool.name).collect()
}
