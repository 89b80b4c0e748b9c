//! What sessions print beyond what memory keeps: exact bytes on disk, read back in pages.
//!
//! # Theory of operation
//!
//! A [`Store`] is a directory with one folder a session, and in it one file an output. Nothing is made before the
//! first [`Store::open`]. A [`Writer`] appends and never fails: what cannot be written is counted, and why is a
//! [`Problem`]. The quota bounds all of them together, so a single one may use it up. Room is found by removing old
//! folders, by age and by total size, whenever a folder is opened and whenever the room found before is used up; there
//! is no task that does so in the background.
//!
//! A [`Record`] is one output as it stood at one moment, on disk or in memory. [`page`] reads some lines of it, or
//! those that match; memory is bounded by what is shown, whatever the size of the record.

mod clean;
mod journal;
mod lines;
mod page;
mod problem;
mod record;
mod store;
mod writer;

pub use journal::{EventPosition, Journal};
pub use page::{Line, Page, Selection, page};
pub use problem::Problem;
pub use record::Record;
pub use store::{Settings, Store};
pub use writer::{Kept, Writer};
