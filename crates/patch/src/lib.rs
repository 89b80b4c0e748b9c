//! Patches: read, verified against the files, applied whole or not at all.
//!
//! # Theory of operation
//!
//! [`recognise`] says whether a piece of work is nothing but a patch. [`Patch::parse`] reads its grammar and touches
//! nothing. [`Patch::verify`] looks at the files: every hunk must fit before anything is written, and what comes out is
//! the new content of each file. [`Verified::apply`] writes: everything is first put beside its place, then exchanged
//! with what is there; a failure in the middle exchanges it back, so the same files with the same modes are there again.
//!
//! Paths are followed from the root of the file system without ever following a symbolic link, once to verify and again to
//! write, and must lie in one root of every list of a [`Ground`]. Files are bytes: only the lines that a patch names
//! need to be text, and every other byte, line ending and mode stays as it is.

mod apply;
mod change;
mod error;
mod fold;
mod grammar;
mod ground;
mod hunk;
mod missing;
mod place;
mod recognise;
mod report;
mod seek;
mod text;
mod verify;

pub use error::{Error, Problem};
pub use ground::{Ground, Roots};
pub use hunk::Patch;
pub use recognise::{Recognised, recognise};
pub use report::Report;
pub use verify::Verified;

/// The name that a patch is judged by, whatever it was called by.
pub const NAME: &str = "apply_patch";
