//! Which hosts a confined command may reach, and the one way there.
//!
//! # Theory of operation
//!
//! [`Reach`] is what an operator writes: no network, the host's, or lists of hosts ([`Hosts`]). A command with lists
//! has a network namespace with nothing in it but a loopback, on which one socket listens. That socket was made inside
//! and handed out, so [`serve`] accepts on it out here: no bridge, no socket file, and whatever arrives is from that one
//! command. Clients speak HTTP (absolute addresses and `CONNECT`) or SOCKS5 to it.
//!
//! Every wish is held against the lists by name first (deny, allow, ask, else refused), then resolved once, here; each
//! address is held against the lists again, private ones are refused unless they are named, and what was checked is what
//! is dialled. Each decision goes through a [`Gate`], which records it before anything is sent, and can ask a person.

mod address;
mod dial;
mod head;
mod hosts;
mod http;
mod lists;
mod pattern;
mod reach;
mod serve;
mod socks;
mod target;

pub use dial::{Decided, Gate, Later, Resolve, System};
pub use hosts::{Hosts, Ruling};
pub use lists::Lists;
pub use pattern::Unreadable;
pub use reach::Reach;
pub use serve::serve;
pub use target::Target;
