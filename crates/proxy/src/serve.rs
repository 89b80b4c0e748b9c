//! The proxy of one command.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::JoinSet;

use crate::dial::{Gate, Resolve, Way};
use crate::hosts::Hosts;
use crate::{http, socks};

/// More connections of one command are not open at the same time; further ones are closed at once.
const MOST_OPEN: usize = 128;

/// So many are there for every command, whatever others have.
const OWN: usize = 8;

/// What all commands share beyond that: each connection takes two descriptors of this process. A command gets no more of
/// it than it leaves to others.
static ROOM: Semaphore = Semaphore::const_new(192);

/// How long a client may take to say what it wants.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// How long, and for how many reads, a client that was refused is listened to.
const PARTING: Duration = Duration::from_secs(2);
const LEFT_UNREAD: usize = 256;

/// How long accepting rests when there is no room for another descriptor.
const REST: Duration = Duration::from_millis(100);

/// Serves whatever connects, until the listener is shut down at its other end. Dropping this ends every connection.
pub async fn serve(listener: TcpListener, hosts: Arc<Hosts>, gate: Arc<dyn Gate>, names: Arc<dyn Resolve>) {
    let way = Way { hosts, gate, names };
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = open.join_next() => {}
            // Even where there is no more room: that the listener is shut down is seen in no other way.
            accepted = listener.accept() => match accepted {
                Ok((client, _)) => match room(open.len()) {
                    Some(room) => drop(open.spawn(one(client, way.clone(), room))),
                    None => way.gate.crowded(open.len()),
                },
                Err(error) if is_passing(&error) => tokio::time::sleep(REST).await,
                Err(_) => return,
            },
        }
    }
}

/// Room for one connection.
enum Room {
    /// One of the command's own.
    Own,
    /// One that is shared, given back when this is dropped.
    Shared(#[expect(dead_code, reason = "it is held")] SemaphorePermit<'static>),
}

/// Room for one more connection of a command that has so many.
fn room(open: usize) -> Option<Room> {
    if open < OWN {
        return Some(Room::Own);
    }
    let fair = open < MOST_OPEN && open - OWN < ROOM.available_permits();
    fair.then(|| ROOM.try_acquire().ok()).flatten().map(Room::Shared)
}

/// Whether accepting may work again later.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    const NO_MORE_FILES: [i32; 4] = [12, 23, 24, 105];
    let kinds = [ConnectionAborted, ConnectionReset, Interrupted];
    kinds.contains(&error.kind()) || error.raw_os_error().is_some_and(|code| NO_MORE_FILES.contains(&code))
}

/// Ends a connection whose client may still be sending: closing it at once would take the answer away from it.
pub(crate) async fn part(mut client: TcpStream) -> io::Result<()> {
    client.shutdown().await?;
    let mut rest = [0; 4096];
    let unread = async {
        for _ in 0..LEFT_UNREAD {
            if client.read(&mut rest).await? == 0 {
                break;
            }
        }
        Ok(())
    };
    tokio::time::timeout(PARTING, unread).await.unwrap_or(Ok(()))
}

async fn one(client: TcpStream, way: Way, _room: Room) {
    let _ = client.set_nodelay(true);
    let mut first = [0];
    let begun = tokio::time::timeout(PATIENCE, client.peek(&mut first)).await;
    // Whatever becomes of a connection its client is told by its end.
    let _ = match (begun, first) {
        (Ok(Ok(1)), [socks::VERSION]) => socks::serve(client, &way).await,
        (Ok(Ok(1)), _) => http::serve(client, &way).await,
        _ => return,
    };
}
