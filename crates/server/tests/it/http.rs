//! The listener, spoken to over real sockets, byte by byte.

mod caller;
mod entrance;
mod leash;
mod listener;
mod sessions;
