//! MCP over this process's own standard input and output.
//!
//! Once serving, nothing else in the process can read the one or write the other: `pipes` keeps both to itself.
//! Every line gets an answer or needs none: what is no message (`message`) or too long (`lines`) is answered here,
//! the rest by the protocol library. When the input ends, the output closes or a signal comes, everything that runs is
//! stopped before [`serve`] returns.

mod frame;
mod lines;
mod message;
mod pipes;
mod transport;

use std::io;
use std::time::Duration;

use rmcp::ServiceExt as _;
use thiserror::Error;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::mcp::Mcp;
use runward_engine::Engine;
use transport::LineTransport;

/// How long the answers to calls that were stopped may take to get out.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// Why serving could not begin.
#[derive(Debug, Error)]
pub enum Error {
    /// The standard streams could not be taken over.
    #[error("cannot use standard input and output: {0}")]
    Streams(#[source] io::Error),
    /// Signals could not be listened for.
    #[error("cannot listen for signals: {0}")]
    Signals(#[source] io::Error),
}

/// Serves until the input ends, the output closes, or SIGTERM or SIGINT comes; returns once every command is stopped.
pub async fn serve(mcp: Mcp, engine: Engine) -> Result<(), Error> {
    let told_to_stop = stop_signal().map_err(Error::Signals)?;
    let (input, output) = pipes::take_over().map_err(Error::Streams)?;
    let (hung_up, stop) = (CancellationToken::new(), CancellationToken::new());
    let served = converse(mcp, LineTransport::new(input, output, hung_up.clone()), stop.clone());
    tokio::pin!(served);

    let is_over = tokio::select! {
        () = &mut served => true,
        () = hung_up.cancelled() => false,
        () = told_to_stop => false,
    };
    engine.shutdown().await;
    stop.cancel();
    if !is_over && tokio::time::timeout(LAST_ANSWERS, served).await.is_err() {
        tracing::debug!("the client did not take the last answers in time");
    }
    Ok(())
}

async fn converse(mcp: Mcp, transport: LineTransport, stop: CancellationToken) {
    let over = match mcp.serve_with_ct(transport, stop).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(reason) = over {
        tracing::debug!(reason, "the conversation ended before it began or broke off");
    }
}

/// Ends with the first SIGTERM or SIGINT from now on.
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
