//! The HTTP listener: MCP at `/mcp`, streams at `/raw`, a health check at `/healthz`.
//!
//! Every request passes `guard` first (`Host`, `Origin`, size), everything but the health check has to come from somebody
//! else than our own commands (`peer`) and needs a token where any is demanded (`access`); only then is a path looked
//! at. Before that, a connection has a time limit for all it does, and makes room for others (`connections`, `listener`,
//! `pace`). The path `/mcp` adds what the protocol library leaves
//! to its user: sessions that belong to somebody (`sessions`), and a word to the running command when its caller
//! has gone (`leash`).

mod access;
mod allowed;
mod answer;
mod connections;
mod endpoint;
mod error;
mod guard;
mod health;
mod leash;
mod listener;
mod pace;
mod peer;
mod register;
mod server;
mod sessions;

use std::net::SocketAddr;

use rmcp::ServerHandler;
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use self::answer::{is_json, refuse};
pub use self::connections::Limits;
pub(crate) use self::endpoint::Open;
pub use self::error::Error;
pub use self::server::Server;
use crate::{Engine, HttpSettings, raw};

/// Serves until SIGTERM or SIGINT; returns once every command has been stopped and every stream has ended.
/// `on_listening` is told the real address.
pub async fn serve<H>(
    mcp: H,
    engine: Engine,
    settings: &HttpSettings,
    on_listening: impl FnOnce(SocketAddr),
) -> Result<(), Error>
where
    H: ServerHandler + Clone + Send + Sync + 'static,
{
    let told_by = engine.clone();
    let server = Server::bind(settings).await?.reporting(move || told_by.policy_fault());
    let left = engine.clone();
    let server = server.apart_from(engine.peers().clone()).on_leaving(move |client| left.leave(client));
    engine.listens_at(server.address());
    let told_to_stop = stop_signal().map_err(Error::Signals)?;
    on_listening(server.address());
    let raw = if settings.raw_is_open {
        raw::routes(engine.clone(), settings.raw.clone(), server.open())
    } else {
        raw::closed()
    };
    server.with_doors(raw).run(mcp, told_to_stop, engine.shutdown()).await
}

/// Ends with the first SIGTERM or SIGINT from now on.
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
