//! In which order a command can come to its end.

use std::time::Duration;

use runward_model::wire::Order;
use runward_model::{Ending, Request, Signal, StopReason, Stream};

use super::Play;
use crate::setup::{MINUTE, ask, settings};

/// Far longer than any grace here, and no time at all on a clock that stands.
const LONG: Duration = Duration::from_secs(30);

fn is_signal(order: &Order, wanted: Signal) -> bool {
    matches!(order, Order::Signal { signal, .. } if *signal == wanted)
}

#[tokio::test(start_paused = true)]
async fn what_is_printed_after_the_exit_and_before_the_end_of_the_outputs_is_kept() {
    let (mut session, mut command) = Play::new().start(ask(&[])).await;
    command.print(Stream::Stdout, b"before ").await;
    command.exits(3);
    command.end_of(Stream::Stderr);
    command.print(Stream::Stdout, b"after").await;
    command.end_of(Stream::Stdout);
    let view = session.ended().await;
    assert_eq!((view.outcome.exit_code(), view.outcome.output_cut), (3, false));
    assert_eq!(view.stdout.head, b"before after");
}

#[tokio::test(start_paused = true)]
async fn outputs_at_their_end_do_not_end_a_session() {
    let (mut session, mut command) = Play::new().start(ask(&[])).await;
    command.end_of_outputs();
    assert!(tokio::time::timeout(LONG, session.over()).await.is_err());
    command.exits(0);
    let outcome = session.over().await;
    assert_eq!((outcome.exit_code(), outcome.output_cut), (0, false));
}

#[tokio::test(start_paused = true)]
async fn an_output_that_somebody_else_holds_open_is_cut_once_the_drain_grace_is_over() {
    let (mut session, command) = Play::new().start(ask(&[])).await;
    command.print(Stream::Stdout, b"some").await;
    command.exits(0);
    let view = session.ended().await;
    assert!(view.outcome.output_cut);
    assert_eq!(view.stdout.head, b"some");
}

#[tokio::test(start_paused = true)]
async fn what_was_left_behind_is_killed_and_counted() {
    let (mut session, mut command) = Play::new().start(ask(&[])).await;
    command.exits_before_others(0);
    command.end_of_outputs();
    assert!(matches!(command.order().await, Order::Close { .. }));
    command.closed(2);
    assert_eq!(session.over().await.tree.ended, 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_gone_before_its_exit_is_told_ends_with_its_exit() {
    let (mut session, mut command) = Play::new().start(ask(&[])).await;
    command.closed(0);
    command.end_of_outputs();
    command.exits(7);
    assert_eq!(session.over().await.exit_code(), 7);
}

#[tokio::test(start_paused = true)]
async fn a_stop_is_a_request_first_and_a_kill_once_the_grace_is_over() {
    let (mut session, mut command) = Play::new().start(ask(&[])).await;
    session.stop(StopReason::Cancelled);
    session.stop(StopReason::Evicted);
    assert!(is_signal(&command.order().await, Signal::TERM));
    assert!(matches!(command.order().await, Order::Close { .. }));
    command.exits_before_others(0);
    command.closed(1);
    command.end_of_outputs();
    let outcome = session.over().await;
    assert_eq!(outcome.stopped, Some(StopReason::Cancelled), "the first reason wins");
    assert_eq!(outcome.wall, settings().kill_grace);
}

#[tokio::test(start_paused = true)]
async fn a_command_that_ends_within_the_grace_is_not_killed() {
    let (mut session, mut command) = Play::new().start(ask(&[])).await;
    session.stop(StopReason::Cancelled);
    assert!(is_signal(&command.order().await, Signal::TERM));
    command.exits(0);
    command.end_of_outputs();
    assert_eq!(session.over().await.exit_code(), 0);
    assert!(command.orders.recv().await.is_none(), "nothing more was asked of it");
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_kills_nobody_is_waited_for_only_so_long() {
    let (mut session, _command) = Play::new().start(ask(&[])).await;
    session.stop(StopReason::Cancelled);
    let outcome = session.over().await;
    assert_eq!((outcome.ending, outcome.output_cut), (Ending::Lost, true));
}

#[tokio::test(start_paused = true)]
async fn a_stop_gets_through_to_a_command_that_floods() {
    let (mut session, mut command) = Play::new().start(ask(&[])).await;
    let flood = vec![b'x'; 1 << 16];
    for round in 0.. {
        command.print(Stream::Stdout, &flood).await;
        if let Ok(order) = command.orders.try_recv() {
            assert!(is_signal(&order, Signal::TERM));
            break;
        }
        if round == 100 {
            session.stop(StopReason::Cancelled);
        }
        assert!(round < 10_000, "the stop does not get through");
    }
    command.exits(0);
    command.end_of_outputs();
    assert_eq!(session.over().await.stopped, Some(StopReason::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn a_command_whose_time_is_up_is_stopped_for_that() {
    let limit = Duration::from_secs(5);
    let (mut session, mut command) = Play::new().start(Request { timeout: Some(limit), ..ask(&[]) }).await;
    assert!(matches!(command.order().await, Order::Probe { .. }));
    assert!(is_signal(&command.order().await, Signal::TERM));
    command.exits(0);
    command.end_of_outputs();
    let outcome = session.over().await;
    assert_eq!((outcome.stopped, outcome.exit_code()), (Some(StopReason::TimedOut(limit)), 124));
}

#[tokio::test(start_paused = true)]
async fn a_lost_machine_ends_its_sessions_as_lost() {
    let (mut session, mut command) = Play::new().start(ask(&[])).await;
    command.print(Stream::Stderr, b"the last words").await;
    command.is_lost();
    command.end_of_outputs();
    let view = session.ended().await;
    assert_eq!(view.outcome.ending, Ending::Lost);
    assert_eq!(view.stderr.head, b"the last words");
}

#[tokio::test(start_paused = true)]
async fn a_machine_lost_after_the_exit_changes_nothing_of_it() {
    let (mut session, mut command) = Play::new().start(ask(&[])).await;
    command.exits_before_others(4);
    command.is_lost();
    command.end_of_outputs();
    assert_eq!(session.over().await.exit_code(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_ends_everything_and_starts_nothing() {
    let mut play = Play::new();
    let (mut session, mut command) = play.start(ask(&[])).await;
    let obeying = async {
        assert!(is_signal(&command.order().await, Signal::TERM));
        command.exits(0);
        command.end_of_outputs();
    };
    tokio::join!(play.engine.shutdown(), obeying);
    assert_eq!(session.over().await.stopped, Some(StopReason::ShuttingDown));
    let refused = crate::setup::start(&play.engine, ask(&[])).await.unwrap_err();
    assert_eq!(refused, runward_model::Refusal::ShuttingDown);
}

#[tokio::test(start_paused = true)]
async fn signals_go_to_the_first_process_and_its_group() {
    let (session, mut command) = Play::new().start(Request { timeout: Some(MINUTE), ..ask(&[]) }).await;
    session.signal(Signal::INT);
    let order = command.order().await;
    assert_eq!(order, Order::SignalGroup { session: session.id(), signal: Signal::INT });
}
