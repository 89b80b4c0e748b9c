//! Remembers: a trail of every call, chained so that tampering shows, and the redaction that keeps secrets out of it.
//!
//! # Theory of operation
//!
//! A call leaves two records and some in between, each a row that is never changed again:
//!
//! ```text
//! judged ── (asked ── answered) ── started ── (typed …) ── closed: ended | refused | lost
//! ```
//!
//! * A record's body is JSON. Its hash is SHA-256 over the hash of the record before it (32 bytes; zeros before the
//!   first), its own number (8 bytes, big-endian) and its body. One `head` row keeps the count and the last hash, so
//!   that records missing at either end show too. Everything that queries filter by is computed from the body, so
//!   there is no second copy to tamper with. What no file can show by itself is a trail that was rewritten from some
//!   record to its head by someone who may write to it: for that, keep [`Verification::head`] somewhere else.
//! * Several servers may write to one file. A write is one `BEGIN IMMEDIATE` transaction that reads the head, adds
//!   rows and moves the head; a write-ahead log lets readers go on meanwhile.
//! * A record is bounded: of a long command the beginning is kept, and a hash of the whole.
//! * [`Trail::drop_old`] drops the oldest records, as [`Retention`] says, and adds a `dropped` record with the number and
//!   the hash of the last of them. The first record that is left has to follow exactly that one, so a trail from which
//!   somebody else took the beginning is told from one that was made shorter.
//! * A trail does not touch the disk until it is first written to, or read where it exists.
//! * A new file is made whole under another name and then linked into place, so nobody ever sees half a schema.
//! * Every record names the server that wrote it: process id, start time of that process, boot, pid namespace.
//!   [`Trail::close_lost`] closes what a dead server left open.
//!
//! # Durability
//!
//! An acknowledged record has reached the kernel: it survives the death of the server by any signal
//! ([`Durability::Crash`], `synchronous=NORMAL` in `SQLite`). After a power failure the trail is whole but may end some
//! seconds early. [`Durability::PowerLoss`] (`synchronous=FULL`) waits for the disk with every record. On a busy
//! two-core virtual machine with ext4 a record took 0.05 ms, and some milliseconds once in some hundreds when the log
//! is folded into the file; with the wait it took 0.3 to 3 ms. `cargo bench -p runward-audit` prints it for yours.

mod call;
mod chain;
mod error;
mod export;
mod file;
mod lost;
mod query;
mod record;
pub mod redact;
mod retention;
mod server;
mod time;
mod trail;
mod verify;

pub use call::CallId;
pub use chain::{Hash, Stored};
pub use error::Error;
pub use file::{Durability, default_path};
pub use query::{Call, Calls, Filter, Order};
pub use record::{
    Answered, Asked, Client, Closed, Closing, Command, Dropped, Ended, Entry, Judged, Omitted, Output,
    Reached, Record, Ruling, Started, Typed,
};
pub use retention::Retention;
pub use server::Server;
pub use time::{BadTime, Time};
pub use trail::Trail;
pub use verify::{Fault, Verification};
