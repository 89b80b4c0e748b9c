//! Ports of a command's own loopback that are opened on this host's, and only there, for as long as its session lives.
//!
//! What listens out here is made before the command starts, so a port that is taken is a refusal, and nobody is sent
//! anywhere else meanwhile. Each connection is carried over a socket that the command's sandbox made.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::RangeInclusive;

use runward_model::{Refusal, Tier};
use tokio::task::JoinSet;

use crate::Engine;
use crate::confine::Confined;
use crate::session::Session;

/// How many connections one port carries at a time; further ones wait.
const CONNECTIONS: usize = 128;

/// How many ports one command may publish.
const MOST: usize = 16;

/// Opens these ports for a command that is confined so, and says in what its caller is told that it did.
pub(crate) fn open(
    allowed: &[RangeInclusive<u16>],
    ports: &[u16],
    confined: &mut Confined,
) -> Result<(), Refusal> {
    let refused = |port: u16, reason: String| Refusal::Unpublishable { port, reason };
    for port in ports.iter().copied() {
        if !has_own_loopback(confined) {
            let what = "the command has no loopback of its own: what it listens on is on this host already; leave publish out";
            return Err(refused(port, what.to_owned()));
        }
        if !allowed.iter().any(|range| range.contains(&port)) {
            let what = "sandbox.publish does not have it; choose a port that it has, or ask the operator to add this one";
            return Err(refused(port, what.to_owned()));
        }
        if confined.published.len() == MOST {
            return Err(refused(port, format!("one command publishes at most {MOST} ports")));
        }
        let listener = listen(port).map_err(|error| {
            let what = "choose another one, or end what listens there (list_sessions shows published ports)";
            refused(port, format!("127.0.0.1:{port} cannot be opened: {error}; {what}"))
        })?;
        confined.published.push((port, listener));
        confined.enforced.published.push(port);
    }
    Ok(())
}

fn has_own_loopback(confined: &Confined) -> bool {
    let own = |tier: Tier| tier.has_namespaces();
    confined.fence.as_ref().is_some_and(|fence| own(fence.tier) && fence.network.is_own())
}

fn listen(port: u16) -> io::Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Carries what arrives to the command, until its session has ended.
pub(crate) fn serve(engine: &Engine, session: &Session, published: Vec<(u16, TcpListener)>) {
    if published.is_empty() {
        return;
    }
    let mut ended = session.watch();
    engine.0.sessions.spawn(async move {
        // Dropping it closes everything.
        let mut ports = JoinSet::new();
        for (port, listener) in published {
            match tokio::net::TcpListener::from_std(listener) {
                Ok(listener) => drop(ports.spawn(accept(port, listener, ended.watch()))),
                Err(error) => tracing::error!(%error, port, "a port could not be published"),
            }
        }
        ended.over().await;
    });
}

async fn accept(port: u16, listener: tokio::net::TcpListener, session: Session) {
    let mut connections = JoinSet::new();
    loop {
        while connections.len() >= CONNECTIONS {
            connections.join_next().await;
        }
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((outside, _)) => drop(connections.spawn(carry(port, outside, session.watch()))),
            // No descriptors are left, most likely; somebody will close some.
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
        }
    }
}

/// Nobody who listens inside is the end of a connection out here.
async fn carry(port: u16, mut outside: tokio::net::TcpStream, session: Session) {
    if let Ok(mut inside) = session.common.loopback.connect(port).await {
        let _ = outside.set_nodelay(true);
        let _ = inside.set_nodelay(true);
        let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
    }
}
