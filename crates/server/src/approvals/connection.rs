//! One connection to the desk.

use runward_engine::Said;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::desk::LocalDesk;
use super::wire::{LONGEST, Order, PATIENCE, Report};

/// Reads one order, carries it out, and says what came of it. Whoever is neither this user nor root is not heard.
pub(super) async fn serve(stream: UnixStream, desk: &LocalDesk) {
    let own = rustix::process::geteuid().as_raw();
    let user = match stream.peer_cred() {
        Ok(peer) if peer.uid() == own || peer.uid() == 0 => peer.uid(),
        Ok(peer) => {
            tracing::warn!(user = peer.uid(), "somebody else tried to answer questions");
            return;
        }
        Err(error) => {
            tracing::warn!(%error, "whoever wants to answer questions cannot be told");
            return;
        }
    };
    match timeout(PATIENCE, exchange(stream, desk, user)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a connection to the desk broke"),
        Err(_) => tracing::debug!("a connection to the desk took too long"),
    }
}

async fn exchange(stream: UnixStream, desk: &LocalDesk, user: u32) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    (&mut stream).take(LONGEST as u64).read_until(b'\n', &mut line).await?;
    let report = match serde_json::from_slice(&line) {
        Ok(Order::List) => desk.questions(),
        Ok(Order::Answer { question, answer }) => {
            desk.answer(&question, Said { answer, by: format!("user {user} with runward approvals") })
        }
        Err(error) => Report::Refused { why: format!("that is no order: {error}") },
    };
    let mut line = serde_json::to_vec(&report)?;
    line.push(b'\n');
    stream.get_mut().write_all(&line).await?;
    stream.get_mut().shutdown().await
}
