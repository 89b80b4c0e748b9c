//! The client of `/raw`: runs a command on a server and streams what it prints.
//!
//! # Theory of operation
//!
//! No runtime: one thread reads one connection. [`Server::run`] asks for a command and answers with its [`Events`],
//! read straight from the socket; a second, kept connection ([`Control`]) carries what goes the other way: input,
//! signals, sizes, and word of what has arrived. A stream that breaks is taken up again by [`Server::follow`] from the
//! number after the last event that came. TLS is touched for `https` addresses alone.

mod address;
mod connection;
mod control;
mod error;
mod event;
mod events;
mod framing;
mod server;
mod tls;
mod token;

pub use address::{Address, Unusable};
pub use control::Control;
pub use error::Error;
pub use event::Event;
pub use events::Events;
pub use runward_model::Size;
pub use runward_model::stream::{Call, Checked, Exit, Stdin};
pub use server::Server;
pub use token::token;
