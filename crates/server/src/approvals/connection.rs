//! One connection to the desk.

use runward_engine::{Peer, Said};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::desk::LocalDesk;
use super::wire::{LONGEST, Order, PATIENCE, Report};

/// What a command is told that wants to answer for a person.
const COMMAND: &str = "a command that Runward itself runs may not see or answer what it asks; a person has to, in a terminal \
    of their own";

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
    let refusal = match desk.peers().of_socket(&stream) {
        Peer::Apart => None,
        Peer::Command => Some(COMMAND.to_owned()),
        Peer::Unknown(why) => Some(format!("who asks cannot be told: {why}; try again")),
    };
    if let Some(why) = &refusal {
        tracing::warn!(user, why, "somebody who may not answer questions tried to");
    }
    match timeout(PATIENCE, exchange(stream, desk, user, refusal)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a connection to the desk broke"),
        Err(_) => tracing::debug!("a connection to the desk took too long"),
    }
}

async fn exchange(
    stream: UnixStream,
    desk: &LocalDesk,
    user: u32,
    refusal: Option<String>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    (&mut stream).take(LONGEST as u64).read_until(b'\n', &mut line).await?;
    let report = match (serde_json::from_slice(&line), refusal) {
        (Ok(_), Some(why)) => Report::Refused { why },
        (Ok(Order::List), None) => desk.questions(),
        (Ok(Order::Answer { question, answer }), None) => {
            desk.answer(&question, Said { answer, by: format!("user {user} with runward approvals") })
        }
        (Err(error), _) => Report::Refused { why: format!("that is no order: {error}") },
    };
    let mut line = serde_json::to_vec(&report)?;
    line.push(b'\n');
    stream.get_mut().write_all(&line).await?;
    stream.get_mut().shutdown().await
}
