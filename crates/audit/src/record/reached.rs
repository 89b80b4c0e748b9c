//! What a command wanted to reach.

use std::net::IpAddr;

use runward_model::Decision;
use serde::{Deserialize, Serialize};

use crate::CallId;

/// A confined command wanted to reach a host through the proxy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// Which call.
    pub call: CallId,
    /// The host as it was named, and the port.
    pub target: String,
    /// The addresses that this led to and that were allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<IpAddr>,
    /// Whether it was allowed.
    pub decision: Decision,
    /// By which entry of the lists, or why not.
    pub reason: String,
}
