//! The MCP server.

use rmcp::ServerHandler;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::engine_standin::Engine;
use crate::settings::Settings;

/// The MCP server. Clones share everything.
#[derive(Clone, Debug)]
pub struct Mcp {
    #[expect(dead_code, reason = "the caller uses it")]
    engine: Engine,
}

impl Mcp {
    /// Offers the tools that the settings name.
    pub fn new(engine: Engine, _settings: &Settings) -> Result<Self, UnknownTool> {
        Ok(Mcp { engine })
    }
}

impl ServerHandler for Mcp {}

/// A tool that was asked for by a name that none has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no tool {name:?}; the tools are {}", .known.join(", "))]
pub struct UnknownTool {
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub known: Vec<&'static str>,
}

/// Cancelled when the client has gone. A door that can notice puts it into the extensions of a request's HTTP parts.
#[derive(Clone, Debug)]
pub struct Disconnected(pub CancellationToken);
