//! How people are asked: through the client that called, and by `runward approvals` on the same machine.
//!
//! A client that can put a form before its user is asked that way (`elicit`). Before 2026-07-28 the server sends a
//! request while the call waits; since then it gives the question as the result, and the client calls again with
//! the answer (`rounds`). Beside that a private socket takes answers from the same machine ([`LocalDesk`], [`client`]).

pub mod client;
mod connection;
mod desk;
mod elicit;
mod form;
mod rounds;
mod socket_directory;
mod text;
mod wire;

pub use desk::LocalDesk;
pub use text::told;
pub use wire::Open;

pub(crate) use elicit::Elicitation;
pub(crate) use form::{KEY, asked, input_required, read as read_answer};
pub(crate) use rounds::{Identity, Parked, Round, Rounds, Starting};
