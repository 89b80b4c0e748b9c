//! The streaming endpoint, over the real program.

mod check;
mod crowd;
mod detached;
mod driving;
mod entrance;
mod refusals;
mod resuming;
pub(crate) mod server;
mod slow;
mod streaming;
mod tool;
mod workspaces;
