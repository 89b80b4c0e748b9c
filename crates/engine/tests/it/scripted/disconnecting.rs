//! What becomes of a session when whoever holds it goes away.

use std::time::Duration;

use runward_engine::{OnDisconnect, Watch};
use runward_model::wire::Order;
use runward_model::{Principal, Request, Signal, Stream};
use runward_testkit::ScriptedCommand;

use super::Play;
use crate::setup::ask;

const PATIENCE: Duration = Duration::from_mins(1);

fn events(on_disconnect: OnDisconnect) -> Watch {
    Watch::Events { shape: |_, _, bytes| bytes.to_vec(), on_disconnect }
}

/// Nothing but its reader ends it.
fn patient() -> Request {
    Request { timeout: None, ..ask(&[]) }
}

/// Whether it is stopped within this time.
async fn is_stopped(command: &mut ScriptedCommand, within: Duration) -> bool {
    match tokio::time::timeout(within, command.orders.recv()).await {
        Ok(order) => matches!(order, Some(Order::Signal { signal: Signal::TERM, .. })),
        Err(_) => false,
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_goes_away_stops_its_command() {
    let mut play = Play::new();
    for watch in [Watch::Call, events(OnDisconnect::Stop)] {
        let (session, mut command) = play.watched(patient(), watch).await;
        drop(session);
        assert!(is_stopped(&mut command, Duration::from_secs(1)).await, "{watch:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_kept_or_detached_goes_on_alone() {
    let mut play = Play::new();
    for watch in [Watch::Kept, events(OnDisconnect::Detach)] {
        let (session, mut command) = play.watched(patient(), watch).await;
        drop(session);
        assert!(!is_stopped(&mut command, 10 * PATIENCE).await, "{watch:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_waits_for_its_reader_is_stopped_once_nobody_came_in_time() {
    let watch = events(OnDisconnect::Resume(PATIENCE));
    let mut play = Play::new();
    let (session, mut command) = play.watched(patient(), watch).await;
    drop(session);
    assert!(!is_stopped(&mut command, PATIENCE / 2).await);
    assert!(is_stopped(&mut command, PATIENCE).await);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_comes_back_in_time_holds_the_session_in_place_of_the_first() {
    let mut play = Play::new();
    let watch = events(OnDisconnect::Resume(PATIENCE));
    let (session, mut command) = play.watched(patient(), watch).await;
    let name = session.name().clone();
    drop(session);
    tokio::time::sleep(PATIENCE / 2).await;
    let mut again = play.engine.session_of(&Principal::local(), &name).unwrap();
    assert!(again.resume());
    assert!(!is_stopped(&mut command, 10 * PATIENCE).await);
    drop(again);
    assert!(is_stopped(&mut command, 2 * PATIENCE).await);
}

#[tokio::test(start_paused = true)]
async fn a_session_for_one_reader_is_not_taken_up_by_another() {
    let mut play = Play::new();
    let (session, _command) = play.watched(patient(), events(OnDisconnect::Stop)).await;
    let mut other = play.engine.session_of(&Principal::local(), session.name()).unwrap();
    assert!(!other.resume());
    drop(other);
    assert!(session.outcome().is_none() && session.events().is_some());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_kept_any_more_for_a_reader_that_did_not_come_back() {
    let mut play = Play::new();
    let watch = events(OnDisconnect::Resume(PATIENCE));
    let (session, mut command) = play.watched(patient(), watch).await;
    command.print(Stream::Stdout, b"unread").await;
    command.exits(0);
    command.end_of_outputs();
    let mut looking = session.watch();
    looking.over().await;
    drop(session);
    assert!(looking.events().is_some());
    tokio::time::sleep(2 * PATIENCE).await;
    assert!(looking.events().is_none());
}
