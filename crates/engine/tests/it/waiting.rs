//! Commands whose time is up, and what they were doing.

use std::fs;
use std::time::Duration;

use runward_model::{Request, StopReason};
use runward_policy::SearchPath;
use runward_testkit::skipped;
use rustix::fs::{CWD, Mode, mkfifoat};

use crate::setup::*;

/// More than a command takes to begin to wait on a busy machine.
const LONG_ENOUGH: Duration = Duration::from_millis(1500);

/// The same for several interpreters at once.
const INTERPRETERS: Duration = Duration::from_secs(5);

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

/// Programs that wait to read their standard input, each in its own way.
const WAITING: [(&str, &str); 8] = [
    ("bash", "read -r answer"),
    ("cat", "cat"),
    ("head", "head -n 1"),
    ("python3", "python3 -c 'import sys; sys.stdin.read()'"),
    ("python3", "python3 -c 'import select; select.select([0], [], [])'"),
    ("python3", "python3 -c 'import select; p = select.poll(); p.register(0); p.poll()'"),
    ("python3", "python3 -c 'import select; p = select.epoll(); p.register(0, 1); p.poll()'"),
    ("node", "node -e 'process.stdin.on(\"data\", () => {})'"),
];

/// Programs that wait as well, and not for their input alone.
const BUSY: [&str; 3] = [
    "python3 -c 'import select, time; select.select([], [], [], 300)'",
    "python3 -c 'import select, os; r, w = os.pipe(); select.select([r], [], [])'",
    "python3 -c 'import select, socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen(); \
        select.select([0, s], [], [])'",
];

#[test]
fn waiting_for_input_is_known_however_a_program_waits() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
    let _writer = fs::File::options().read(true).write(true).open(&pipe).unwrap();
    let is_here = |program: &str| SearchPath::new(&std::env::var_os("PATH").unwrap()).find(program).is_some();
    let (here, absent): (Vec<_>, Vec<_>) = WAITING.into_iter().partition(|(program, _)| is_here(program));
    for (program, _) in absent {
        skipped(&format!("no {program} here to wait for input"));
    }
    let busy = BUSY.into_iter().filter(|_| is_here("python3")).map(|command| (command, false));
    let cases: Vec<_> = here.into_iter().map(|(_, command)| (command, true)).chain(busy).collect();
    under_each_containment(async |engine| {
        let mut sessions = Vec::new();
        for (command, waits) in &cases {
            let command = format!("{command} < {}", pipe.display());
            let request = Request { timeout: Some(INTERPRETERS), ..line(&command) };
            sessions.push((start(engine, request).await.unwrap(), command, *waits));
        }
        for (mut session, command, waits) in sessions {
            let outcome = session.ended().await.outcome;
            assert_eq!(outcome.stopped, Some(StopReason::TimedOut(INTERPRETERS)), "{command}");
            assert_eq!(outcome.waiting_for_input, waits, "{command}");
        }
    });
}
