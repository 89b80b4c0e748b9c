//! What more than one crate needs of files: directories that are ours alone, which file something is, replacing a file
//! as a whole, locks, and names that nobody can guess.
//!
//! It knows nothing of Runward, so every other crate may use it.

pub mod identity;
mod lock;
mod open;
pub mod private;
pub mod random;
mod replace;

pub use identity::{FileId, Stamp};
pub use lock::lock;
pub use open::open_unfollowed;
pub use replace::{draft_of, replace};
