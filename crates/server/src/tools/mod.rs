//! The tools: one file each, and the table of them all.
//!
//! A tool is data and two pure functions; it never sees the engine. To add one, write its file and name it in
//! [`TOOLS`].

mod execute_command;
mod execute_process;
mod running;

use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock, ToolAnnotations};
use runward_model::{Caller, Request, View};

use crate::params::{Given, Param};

/// Every tool that can be offered, in the order in which they are listed.
pub(crate) static TOOLS: [Tool; 2] = [execute_command::TOOL, execute_process::TOOL];

/// A tool: what a model is told of it, and how its foreign words become a request and a view becomes its reply.
#[derive(Debug)]
pub(crate) struct Tool {
    /// What it is called by.
    pub(crate) name: &'static str,
    /// What a person reads.
    pub(crate) title: &'static str,
    /// For a model: what it does and what to expect of it.
    pub(crate) description: &'static str,
    /// For a model: when to use another one, said only where that one is offered too.
    pub(crate) alternative: Alternative,
    /// What it may do to the world.
    pub(crate) annotations: fn() -> ToolAnnotations,
    /// What it takes.
    pub(crate) params: fn(&Limits) -> Vec<Param>,
    /// Checked arguments to a request.
    pub(crate) decode: fn(Given, Caller) -> Request,
    /// The end of a session to a reply.
    pub(crate) encode: fn(&View) -> Reply,
}

/// Another tool that does some things better.
#[derive(Debug)]
pub(crate) struct Alternative {
    /// Which.
    pub(crate) tool: &'static str,
    /// One sentence that says when.
    pub(crate) when: &'static str,
}

/// What the operator's settings leave open to a caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// How long a command may run when the caller does not say.
    pub(crate) default_timeout: Duration,
    /// The longest time that a caller may ask for.
    pub(crate) max_timeout: Duration,
}

/// What the caller is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The command ran to its end, whatever its exit code.
    Ran(String),
    /// It did not, and this says why.
    Failed(String),
}

impl From<Reply> for CallToolResult {
    fn from(reply: Reply) -> Self {
        match reply {
            Reply::Ran(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Reply::Failed(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
        }
    }
}

#[cfg(test)]
mod tests;
