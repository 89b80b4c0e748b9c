//! The only crate that starts processes: it talks to the runner.
//!
//! # Theory of operation
//!
//! A [`Spawner`] starts the runner with the first command (so that starting a server has no side effects), and
//! again should somebody kill it. One task owns the socket: it sends orders and hands each report to the session
//! that it is about. A [`Child`] is a session seen from the server: its outputs, its input, its reports.
#![expect(
    unsafe_code,
    reason = "the environment block, the allocator and a peer's process have no safe interface"
)]

mod child;
pub mod descriptors;
mod error;
mod input;
mod link;
pub mod memory;
mod own;
mod peers;
mod pipes;
mod proxy_listener;
mod relay;
pub mod secret;
mod sockets;
mod start;
mod terminal;

pub use child::{Child, Keyboard, Looking, Output, Reports};
pub use error::Error;
pub use input::{Input, Stdio};
pub use own::OwnProgram;
pub use peers::{Peer, Peers, is_of_this_machine};
pub use relay::{Frames, Relay};
pub use sockets::Loopback;
pub use start::{RunnerProgram, Spawner};
pub use terminal::Terminal;
