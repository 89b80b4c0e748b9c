//! Commands whose time is up, and what they were doing.

use std::fs;
use std::time::Duration;

use runward_model::{Request, StopReason};
use rustix::fs::{CWD, Mode, mkfifoat};

use crate::setup::*;

/// More than a command takes to begin to wait on a busy machine.
const LONG_ENOUGH: Duration = Duration::from_millis(1500);

fn for_a_while(text: &str) -> Request {
    Request { timeout: Some(LONG_ENOUGH), ..line(text) }
}

#[test]
fn the_kernel_tells_who_waits_for_input_when_time_is_up() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
    // Held open by somebody outside, so that whoever reads waits.
    let _writer = fs::File::options().read(true).write(true).open(&pipe).unwrap();
    under_each_containment(async |engine| {
        let reads = format!("(cat; :) < {}; :", pipe.display());
        let (reader, pipeline, sleeper) = tokio::join!(
            run(engine, for_a_while(&reads)),
            run(engine, for_a_while("sleep 300 | cat; :")),
            run(engine, for_a_while("sleep 300")),
        );
        for (view, waits) in [(reader, true), (pipeline, false), (sleeper, false)] {
            let outcome = view.outcome;
            assert_eq!(outcome.stopped, Some(StopReason::TimedOut(LONG_ENOUGH)));
            assert_eq!(outcome.waiting_for_input, waits, "{}", view.receipt.command);
        }
    });
}

#[test]
fn a_command_that_ends_in_time_waits_for_nothing() {
    under_each_containment(async |engine| {
        assert!(!run(engine, line("echo done")).await.outcome.waiting_for_input);
    });
}
