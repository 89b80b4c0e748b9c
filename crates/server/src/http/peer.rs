//! Who is at the other end of a connection: nothing is answered or started for a command that we run ourselves.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use runward_engine::{Peer, Peers};
use tokio::net::TcpStream;

use super::answer::refuse;
use super::listener::Via;

/// What a command is told.
const COMMAND: &str = "a command that Runward itself runs may not call it; a person, or a program that Runward did not start, has to";

/// Who is at the other end of a connection that was accepted: found out with its first request, and stays so.
#[derive(Clone, Debug)]
pub(super) struct Caller(Arc<Ports>);

#[derive(Debug)]
struct Ports {
    /// Ours and theirs; nothing when it was gone before anybody could ask.
    addresses: Option<(SocketAddr, SocketAddr)>,
    peer: OnceLock<Peer>,
}

impl Caller {
    /// Of a stream that was just accepted.
    pub(super) fn new(stream: &TcpStream) -> Self {
        let addresses = stream.local_addr().ok().zip(stream.peer_addr().ok());
        Caller(Arc::new(Ports { addresses, peer: OnceLock::new() }))
    }

    fn peer(&self, peers: &Peers) -> Peer {
        let find = || match self.0.addresses {
            Some((ours, theirs)) => peers.of_connection(ours, theirs),
            None => Peer::Unknown("its other end is closed already"),
        };
        *self.0.peer.get_or_init(find)
    }
}

/// Why nobody can tell who calls. Whoever shows a token is known by that: commands cannot read it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unknown(&'static str);

impl Unknown {
    /// The answer to a caller that shows no token.
    pub(super) fn answer(self) -> Response {
        let Unknown(why) = self;
        let message = format!(
            "a command that Runward itself runs may not call it, and who calls cannot be told: {why}; show a token \
             (`runward token` makes one) as `Authorization: Bearer …`"
        );
        refuse(StatusCode::FORBIDDEN, "caller_unknown", &message)
    }
}

/// Refuses our own commands, and marks requests of callers that nobody knows.
pub(super) async fn apart(State(peers): State<Peers>, mut request: Request, next: Next) -> Response {
    let via = request.extensions().get::<ConnectInfo<Via>>().cloned();
    let peer =
        via.map_or(Peer::Unknown("its connection is not known"), |ConnectInfo(via)| via.caller.peer(&peers));
    match peer {
        Peer::Apart => {}
        Peer::Command => {
            tracing::warn!("a command tried to call the server that runs it");
            return refuse(StatusCode::FORBIDDEN, "own_command", COMMAND);
        }
        Peer::Unknown(why) => drop(request.extensions_mut().insert(Unknown(why))),
    }
    next.run(request).await
}
