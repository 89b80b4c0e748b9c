//! The judge: which commands a piece of work would run, and whether the rules allow each of them.

mod allowlist;
mod builtins;
mod judge;
mod reading;
mod search_path;
mod words;

pub use allowlist::Allowlist;
pub use judge::Policy;
pub use reading::{Reading, Script, read};
pub use search_path::SearchPath;
