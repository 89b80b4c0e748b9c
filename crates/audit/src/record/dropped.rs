//! What is no longer there, and where the rest begins.

use serde::{Deserialize, Serialize};

use crate::Hash;

/// Old records were dropped, as the operator's settings say. The first record that is left follows the last one of these,
/// so the chain can be walked from there; this record is a part of the chain itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// The number of the first.
    pub first: u64,
    /// The number of the last.
    pub last: u64,
    /// The hash of the last.
    pub hash: Hash,
    /// Why.
    pub reason: String,
}
