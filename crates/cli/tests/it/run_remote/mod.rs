//! `run-remote`, the real program against the real server.

mod command_line;
mod input;
mod lost;
mod output;
pub(crate) mod program;
mod proxy;
mod signals;
mod terminal;
