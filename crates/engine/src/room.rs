//! Room for so many commands at once. Beyond that callers wait, client by client in turn, so that one who asks for much
//! keeps nobody else waiting.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use runward_model::Principal;
use tokio::sync::oneshot::{self, Sender};

/// More calls than this do not wait in all.
const MOST_WAITING: usize = 1024;

/// Of one client no more calls than this wait, so that it cannot take up the whole line.
const MOST_OF_ONE: usize = 64;

/// Room for so many commands at once. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Room(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// How many commands it has room for.
    size: usize,
    free: usize,
    /// Who waits: the client whose turn is next first, each with its calls in their order. Nobody waits while there is
    /// a free place.
    waiting: VecDeque<(Principal, VecDeque<Sender<Place>>)>,
}

/// A place for one command, which the next gets when it is dropped.
#[derive(Debug)]
pub(crate) struct Place(Option<Room>);

impl Room {
    pub(crate) fn of(size: usize) -> Self {
        Room(Arc::new(Mutex::new(State { size, free: size, waiting: VecDeque::new() })))
    }

    /// How many commands it has room for.
    pub(crate) fn size(&self) -> usize {
        self.lock().size
    }

    /// A place, at once or when this client's turn has come, unless that takes longer than `patience`. May be dropped.
    pub(crate) async fn place(&self, principal: &Principal, patience: Duration) -> Option<Place> {
        let turn = {
            let mut state = self.lock();
            if state.free > 0 {
                state.free -= 1;
                return Some(Place(Some(self.clone())));
            }
            if patience.is_zero() {
                return None;
            }
            let (sender, turn) = oneshot::channel();
            if !state.line_up(principal, sender) {
                return None;
            }
            turn
        };
        // A place that comes too late is dropped with the channel, and so goes to the next.
        tokio::time::timeout(patience, turn).await.ok()?.ok()
    }

    /// A place, if one is free at once.
    pub(crate) fn free_place(&self) -> Option<Place> {
        let mut state = self.lock();
        state.free = state.free.checked_sub(1)?;
        Some(Place(Some(self.clone())))
    }

    /// Gives a place to whoever is next.
    fn pass_on(self) {
        loop {
            let next = {
                let mut state = self.lock();
                let Some(next) = state.next() else {
                    state.free += 1;
                    return;
                };
                next
            };
            match next.send(Place(Some(self.clone()))) {
                Ok(()) => return,
                // Whoever this was has just gone: this is no place any more, and the next one is asked.
                Err(mut place) => place.0 = None,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Puts a call behind the others of its client, unless too many wait.
    fn line_up(&mut self, principal: &Principal, call: Sender<Place>) -> bool {
        for (_, calls) in &mut self.waiting {
            calls.retain(|call| !call.is_closed());
        }
        self.waiting.retain(|(_, calls)| !calls.is_empty());
        if self.waiting.iter().map(|(_, calls)| calls.len()).sum::<usize>() >= MOST_WAITING {
            return false;
        }
        match self.waiting.iter_mut().find(|(client, _)| client == principal) {
            Some((_, calls)) if calls.len() >= MOST_OF_ONE => return false,
            Some((_, calls)) => calls.push_back(call),
            None => self.waiting.push_back((principal.clone(), VecDeque::from([call]))),
        }
        true
    }

    /// The call whose turn it is; its client is then the last.
    fn next(&mut self) -> Option<Sender<Place>> {
        while let Some((client, mut calls)) = self.waiting.pop_front() {
            let next = calls.pop_front();
            if !calls.is_empty() {
                self.waiting.push_back((client, calls));
            }
            if next.is_some() {
                return next;
            }
        }
        None
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(room) = self.0.take() {
            room.pass_on();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::Poll;

    use super::*;

    const LONG: Duration = Duration::from_secs(10);

    type Waiting<'a> = Pin<Box<dyn Future<Output = Option<Place>> + 'a>>;

    fn client(name: &str) -> Principal {
        Principal::local().client(name)
    }

    async fn poll(waiting: &mut Waiting<'_>) -> Poll<Option<Place>> {
        std::future::poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context))).await
    }

    async fn lined_up<'a>(room: &'a Room, who: &'a Principal) -> Waiting<'a> {
        let mut waiting: Waiting<'a> = Box::pin(room.place(who, LONG));
        assert!(poll(&mut waiting).await.is_pending(), "there is no room");
        waiting
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_is_free_again_once_it_is_dropped() {
        let (room, ada) = (Room::of(1), client("ada"));
        let place = room.place(&ada, Duration::ZERO).await;
        assert!(place.is_some() && room.place(&ada, Duration::ZERO).await.is_none());
        drop(place);
        assert!(room.place(&ada, Duration::ZERO).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn clients_take_turns_however_many_calls_one_of_them_has() {
        let (room, ada, bob) = (Room::of(3), client("ada"), client("bob"));
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(room.place(&ada, Duration::ZERO).await);
        }
        let mut first = lined_up(&room, &ada).await;
        let mut second = lined_up(&room, &ada).await;
        let mut other = lined_up(&room, &bob).await;
        held.pop();
        let Poll::Ready(first_place) = poll(&mut first).await else { panic!("it was first") };
        held.pop();
        let Poll::Ready(other_place) = poll(&mut other).await else { panic!("its turn has come") };
        assert!(poll(&mut second).await.is_pending(), "and not that of the first again");
        held.pop();
        assert!(second.await.is_some() && first_place.is_some() && other_place.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_too_long_or_goes_away_takes_no_place() {
        let (room, ada, bob) = (Room::of(1), client("ada"), client("bob"));
        let place = room.place(&ada, LONG).await;
        let gone = lined_up(&room, &ada).await;
        assert!(room.place(&bob, LONG).await.is_none(), "nobody made room");
        drop(gone);
        let kept = lined_up(&room, &bob).await;
        drop(place);
        drop(kept);
        assert!(room.place(&ada, Duration::ZERO).await.is_some(), "what came too late went back");
    }

    #[tokio::test(start_paused = true)]
    async fn one_client_cannot_take_up_the_whole_line() {
        let (room, ada, bob) = (Room::of(1), client("ada"), client("bob"));
        let _place = room.place(&ada, LONG).await;
        let mut waiting = Vec::new();
        for _ in 0..MOST_OF_ONE {
            waiting.push(lined_up(&room, &ada).await);
        }
        let mut refused: Waiting<'_> = Box::pin(room.place(&ada, LONG));
        assert!(poll(&mut refused).await.is_ready(), "refused at once");
        let _other = lined_up(&room, &bob).await;
    }
}
