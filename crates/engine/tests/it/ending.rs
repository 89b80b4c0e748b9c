//! How sessions end, and that nothing of them is left.

use std::time::Duration;

use runward_engine::Settings;
use runward_model::{Containment, Ending, Request, Signal, StopReason};
use runward_testkit::{Marker, eventually};

use crate::setup::*;

#[test]
fn exit_codes_and_signals_are_told_apart() {
    under_each_containment(async |engine| {
        assert_eq!(run(engine, ask(&["exit", "7"])).await.outcome.ending, Ending::Exited(7));
        let killed = run(engine, ask(&["die", "9"])).await.outcome;
        assert_eq!(killed.ending, Ending::Signaled(Signal::KILL));
        assert_eq!(killed.exit_code(), 137);
    });
}

#[test]
fn a_timeout_ends_the_whole_family_and_keeps_what_was_printed() {
    under_each_containment(async |engine| {
        let marker = Marker::new();
        let verbs = ["print", "before", "family", marker.as_str(), "wait"];
        let request = Request { timeout: Some(Duration::from_millis(700)), ..ask(&verbs) };
        let view = run(engine, request).await;
        assert_eq!(view.outcome.stopped, Some(StopReason::TimedOut(Duration::from_millis(700))));
        assert_eq!(view.outcome.exit_code(), 124);
        assert_eq!(text(&view.stdout.head), "before");
        assert_eq!(marker.carriers(), Vec::<i32>::new());
        assert_eq!(view.outcome.tree.survivors, Vec::<i32>::new());
    });
}

#[test]
fn a_cancelled_call_ends_the_whole_family() {
    under_each_containment(async |engine| {
        let marker = Marker::new();
        let mut session =
            start(engine, ask(&["family", marker.as_str(), "print", "up", "wait"])).await.unwrap();
        until_printed(&session, "up").await;
        session.stop(StopReason::Cancelled);
        assert_eq!(session.ended().await.outcome.stopped, Some(StopReason::Cancelled));
        assert_eq!(marker.carriers(), Vec::<i32>::new());
    });
}

#[test]
fn letting_go_of_the_leash_ends_the_whole_family() {
    under_each_containment(async |engine| {
        let marker = Marker::new();
        let session = start(engine, ask(&["family", marker.as_str(), "print", "up", "wait"])).await.unwrap();
        until_printed(&session, "up").await;
        drop(session);
        engine.shutdown().await;
        assert_eq!(marker.carriers(), Vec::<i32>::new());
    });
}

#[test]
fn a_shutdown_ends_everything_and_refuses_more() {
    under_each_containment(async |engine| {
        let marker = Marker::new();
        let mut session =
            start(engine, ask(&["family", marker.as_str(), "print", "up", "wait"])).await.unwrap();
        until_printed(&session, "up").await;
        engine.shutdown().await;
        assert_eq!(marker.carriers(), Vec::<i32>::new());
        assert_eq!(session.ended().await.outcome.stopped, Some(StopReason::ShuttingDown));
        assert_eq!(
            start(engine, ask(&["exit", "0"])).await.unwrap_err(),
            runward_model::Refusal::ShuttingDown
        );
    });
}

#[test]
fn a_child_that_ignores_term_is_killed_once_the_grace_is_over() {
    under_each_containment(async |engine| {
        let mut session = start(engine, ask(&["ignore-term", "print", "deaf", "wait"])).await.unwrap();
        until_printed(&session, "deaf").await;
        session.stop(StopReason::Cancelled);
        assert_eq!(session.ended().await.outcome.ending, Ending::Signaled(Signal::KILL));
    });
}

#[test]
fn a_child_that_heeds_term_may_say_goodbye() {
    under_each_containment(async |engine| {
        let goodbye = "trap 'echo goodbye; exit 3' TERM; echo ready; while :; do sleep 0.05; done";
        let mut session = start(engine, script(goodbye)).await.unwrap();
        until_printed(&session, "ready").await;
        session.stop(StopReason::Cancelled);
        let view = session.ended().await;
        assert_eq!(text(&view.stdout.head), "ready\ngoodbye\n");
        assert_eq!(view.outcome.ending, Ending::Exited(3));
    });
}

#[test]
fn a_child_left_behind_with_the_outputs_does_not_keep_the_answer() {
    under_each_containment(async |engine| {
        let marker = Marker::new();
        let view = run(engine, ask(&["orphan", marker.as_str(), "print", "done"])).await;
        assert_eq!(text(&view.stdout.head), "done");
        assert_eq!(view.outcome.ending, Ending::Exited(0));
        assert!(view.outcome.output_cut);
        assert_eq!(view.outcome.tree.ended, 1);
        assert_eq!(marker.carriers(), Vec::<i32>::new());
    });
}

#[test]
fn a_quiet_daemon_is_ended_with_its_session() {
    under_each_containment(async |engine| {
        let marker = Marker::new();
        let puppet = runward_testkit::puppet();
        let daemon = format!(
            "setsid {} linger {} session >/dev/null 2>&1 </dev/null &",
            puppet.display(),
            marker.as_str()
        );
        let view = run(engine, script(&daemon)).await;
        assert!(!view.outcome.output_cut);
        assert_eq!(marker.carriers(), Vec::<i32>::new());
    });
}

#[test]
fn a_fork_bomb_is_ended() {
    under_each_containment(async |engine| {
        let marker = Marker::new();
        let verbs = ["bomb", marker.as_str(), "30"];
        let request = Request { timeout: Some(Duration::from_millis(300)), ..ask(&verbs) };
        let view = run(engine, request).await;
        if view.outcome.tree.containment == Containment::Keeper {
            assert!(view.outcome.tree.containment.is_best_effort());
        }
        eventually("the bomb is gone", || marker.carriers().is_empty());
        assert_eq!(view.outcome.tree.survivors, Vec::<i32>::new());
    });
}

#[test]
fn a_stop_gets_through_while_a_child_floods() {
    under_each_containment(async |engine| {
        let request = Request { timeout: Some(Duration::from_millis(300)), ..line("yes") };
        let view = run(engine, request).await;
        assert_eq!(view.outcome.exit_code(), 124);
        assert!(view.stdout.missing > 0);
    });
}

#[test]
fn a_killed_runner_loses_its_sessions_and_the_next_command_runs() {
    under_each_containment(async |engine| {
        let marker = Marker::new();
        let mut session =
            start(engine, ask(&["family", marker.as_str(), "print", "up", "wait"])).await.unwrap();
        until_printed(&session, "up").await;
        let runner = runner_of(&session);
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(runner).unwrap(),
            rustix::process::Signal::KILL,
        )
        .unwrap();
        assert_eq!(session.ended().await.outcome.ending, Ending::Lost);
        eventually("the family is gone", || marker.carriers().is_empty());
        assert_eq!(run(engine, ask(&["exit", "4"])).await.outcome.exit_code(), 4);
    });
}

#[test]
fn no_more_than_the_allowed_number_run_at_once() {
    let few = Settings { max_sessions: 1, ..settings() };
    under_each_containment_with(&few, async |engine| {
        let session = start(engine, ask(&["wait"])).await.unwrap();
        let refusal = start(engine, ask(&["wait"])).await.unwrap_err().to_string();
        assert!(refusal.contains("1 commands are running already"), "{refusal}");
        drop(session);
    });
}

#[test]
fn a_command_that_stops_its_own_parent_is_ended_all_the_same() {
    under_each_containment(async |engine| {
        let marker = Marker::new();
        let puppet = runward_testkit::puppet();
        let freeze = format!("kill -STOP $PPID; {} linger {} session", puppet.display(), marker.as_str());
        let request = Request { timeout: Some(Duration::from_millis(300)), ..script(&freeze) };
        let view = run(engine, request).await;
        assert_eq!(view.outcome.exit_code(), 124);
        assert_eq!(marker.carriers(), Vec::<i32>::new());
        assert_eq!(run(engine, ask(&["exit", "5"])).await.outcome.exit_code(), 5);
    });
}

#[test]
fn a_command_that_stops_the_runner_does_not_keep_others_from_starting() {
    under_each_containment(async |engine| {
        let mut frozen =
            start(engine, script("kill -STOP $PPID; echo frozen; exec sleep 300")).await.unwrap();
        until_printed(&frozen, "frozen").await;
        assert_eq!(run(engine, ask(&["exit", "6"])).await.outcome.exit_code(), 6);
        frozen.stop(StopReason::Cancelled);
        frozen.ended().await;
    });
}

#[test]
fn a_call_after_one_that_was_killed_is_not_killed_with_it() {
    under_each_containment(async |engine| {
        for _ in 0..3 {
            let request =
                Request { timeout: Some(Duration::from_millis(200)), ..ask(&["ignore-term", "wait"]) };
            assert_eq!(run(engine, request).await.outcome.exit_code(), 124);
            assert_eq!(run(engine, ask(&["exit", "7"])).await.outcome.exit_code(), 7);
        }
    });
}
