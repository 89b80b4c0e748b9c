//! Which connections there are, what each is doing, and which one goes when there are too many.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long clients may take, and how many there may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long the head of a request may take from its first byte.
    pub head: Duration,
    /// How long the body of a request may stand still.
    pub body: Duration,
    /// How long a connection may be silent that has shown no token, or where none is demanded, made no request.
    pub idle: Duration,
    /// How many connections there may be.
    pub connections: usize,
}

/// Every connection. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Connections {
    most: usize,
    table: Arc<Mutex<Table>>,
}

#[derive(Debug, Default)]
struct Table {
    /// The oldest first.
    open: BTreeMap<u64, Arc<Connection>>,
    next: u64,
}

/// There is no room for another connection: every one is in use by a client that was let in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoConnectionLeft;

impl Connections {
    pub(super) fn new(most: usize) -> Self {
        Connections { most, table: Arc::default() }
    }

    /// Takes a new one in, and ends another for it where there are too many.
    pub(super) fn admit(&self) -> Result<Arc<Connection>, NoConnectionLeft> {
        let mut table = self.table();
        if table.open.len() >= self.most {
            let id = table.least_wanted().ok_or(NoConnectionLeft)?;
            if let Some(connection) = table.open.remove(&id) {
                connection.ended.cancel();
            }
        }
        let id = table.next;
        table.next += 1;
        let connection = Arc::new(Connection::new(id));
        table.open.insert(id, connection.clone());
        Ok(connection)
    }

    pub(super) fn forget(&self, connection: &Connection) {
        self.table().open.remove(&connection.id);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// The oldest that was never let in; else the one of a client that was let in and has been silent for longest, since
    /// clients open a connection that they keep for later anew.
    fn least_wanted(&self) -> Option<u64> {
        let stranger = self.open.iter().find(|(_, connection)| !connection.state().is_known);
        let silent = || {
            let waiting = self.open.iter().filter_map(|(id, connection)| match connection.state().phase {
                Phase::Waiting(since) => Some((since, *id)),
                Phase::Head(_) | Phase::Busy => None,
            });
            waiting.min().map(|(_, id)| id)
        };
        stranger.map(|(id, _)| *id).or_else(silent)
    }
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    id: u64,
    state: Mutex<State>,
    ended: CancellationToken,
}

#[derive(Clone, Copy, Debug)]
struct State {
    phase: Phase,
    /// Whether a request of it was let in.
    is_known: bool,
}

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing was asked, or everything was answered.
    Waiting(Instant),
    /// A request has begun.
    Head(Instant),
    /// A request is being answered.
    Busy,
}

/// What a client has waited too long with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overdue {
    /// Asking anything.
    Request,
    /// The rest of a head.
    Head,
}

impl Connection {
    fn new(id: u64) -> Self {
        let state = State { phase: Phase::Waiting(Instant::now()), is_known: false };
        Connection { id, state: Mutex::new(state), ended: CancellationToken::new() }
    }

    /// Cancelled once it has to make room.
    pub(super) fn ended(&self) -> CancellationToken {
        self.ended.clone()
    }

    /// Something has arrived.
    pub(super) fn heard(&self) {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Waiting(_)) {
            state.phase = Phase::Head(Instant::now());
        }
    }

    /// A whole head has arrived; until what this returns is dropped, the request is being answered.
    pub(super) fn begin(self: &Arc<Self>) -> Answering {
        self.lock().phase = Phase::Busy;
        Answering(self.clone())
    }

    /// A request was let in.
    pub(super) fn know(&self) {
        self.lock().is_known = true;
    }

    /// Until when its client has time, and with what.
    pub(super) fn deadline(&self, limits: &Limits) -> Option<(Instant, Overdue)> {
        let state = self.state();
        match state.phase {
            Phase::Waiting(since) if !state.is_known => Some((since + limits.idle, Overdue::Request)),
            Phase::Head(since) => Some((since + limits.head, Overdue::Head)),
            Phase::Waiting(_) | Phase::Busy => None,
        }
    }

    fn state(&self) -> State {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Held for as long as a request is being answered.
#[derive(Debug)]
pub(super) struct Answering(Arc<Connection>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.lock().phase = Phase::Waiting(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        head: Duration::from_secs(10),
        body: Duration::from_secs(30),
        idle: Duration::from_mins(1),
        connections: 3,
    };

    fn full() -> (Connections, [Arc<Connection>; 3]) {
        let connections = Connections::new(3);
        let three = std::array::from_fn(|_| connections.admit().expect("there is room"));
        (connections, three)
    }

    fn ended(three: &[Arc<Connection>; 3]) -> Vec<usize> {
        (0..3).filter(|at| three[*at].ended.is_cancelled()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_stranger_makes_room() {
        let (connections, three) = full();
        three[0].know();
        let _busy = three[1].begin();
        connections.admit().expect("room was made");
        assert_eq!(ended(&three), [1]);
    }

    #[tokio::test(start_paused = true)]
    async fn without_strangers_the_one_that_was_silent_for_longest_makes_room() {
        let (connections, three) = full();
        for connection in &three {
            connection.know();
        }
        let busy = three[0].begin();
        tokio::time::advance(Duration::from_secs(1)).await;
        drop(three[1].begin());
        connections.admit().expect("room was made");
        assert_eq!(ended(&three), [2]);
        drop(busy);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_who_is_being_answered_makes_room() {
        let (connections, three) = full();
        for connection in &three {
            connection.know();
        }
        let busy = three.each_ref().map(Connection::begin);
        assert_eq!(connections.admit().err(), Some(NoConnectionLeft));
        drop(busy);
        connections.forget(&three[1]);
        connections.admit().expect("there is room");
        assert_eq!(ended(&three), [0; 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_has_time_for_a_head_and_a_stranger_for_a_request() {
        let (_, [one, ..]) = full();
        let start = Instant::now();
        assert_eq!(one.deadline(&LIMITS), Some((start + LIMITS.idle, Overdue::Request)));
        one.heard();
        tokio::time::advance(Duration::from_secs(1)).await;
        one.heard();
        assert_eq!(one.deadline(&LIMITS), Some((start + LIMITS.head, Overdue::Head)));
        let busy = one.begin();
        one.heard();
        assert_eq!(one.deadline(&LIMITS), None);
        drop(busy);
        let now = Instant::now();
        assert_eq!(one.deadline(&LIMITS), Some((now + LIMITS.idle, Overdue::Request)));
        one.know();
        assert_eq!(one.deadline(&LIMITS), None);
    }
}
