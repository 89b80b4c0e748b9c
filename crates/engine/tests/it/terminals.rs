//! Sessions on a terminal, and sessions that are written to.

use runward_engine::{Engine, NotTaken, Session};
use runward_model::{Ending, Request, Signal, Size, Stdio, StopReason, Stream, View};

use crate::setup::{ask, line, run, script, start, text, under_each_containment, until_printed};

fn on_terminal(request: Request) -> Request {
    Request { stdio: Stdio::Terminal(Size { rows: 31, cols: 101 }), ..request }
}

fn shown(view: &View) -> String {
    assert_eq!(view.stderr.head, b"", "a terminal has one output");
    text(&view.stdout.head).replace("\r\n", "\n")
}

async fn begin(engine: &Engine, text: &str, stdio: Stdio) -> Session {
    start(engine, Request { stdio, ..script(text) }).await.unwrap()
}

fn terminal() -> Stdio {
    Stdio::Terminal(Size::default())
}

#[test]
fn a_command_on_a_terminal_finds_one_of_the_size_that_was_asked_for() {
    under_each_containment(async |engine| {
        let view = run(engine, on_terminal(line("tty; stty size; cut -d ' ' -f 7 /proc/$$/stat"))).await;
        let shown = shown(&view);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[1], "31 101", "{shown}");
        assert!(lines[0].starts_with("/dev/") && lines[2] != "0", "the terminal controls it: {shown}");
    });
}

#[test]
fn death_by_a_signal_is_told_on_a_terminal_as_on_pipes() {
    under_each_containment(async |engine| {
        for request in [script("kill -TERM $$"), on_terminal(script("kill -TERM $$"))] {
            let outcome = run(engine, request).await.outcome;
            assert_eq!((outcome.ending, outcome.exit_code()), (Ending::Signaled(Signal::TERM), 143));
        }
    });
}

#[test]
fn what_is_typed_goes_through_the_line_discipline() {
    under_each_containment(async |engine| {
        let mut session = begin(engine, "read line; echo \"got:$line\"; cat", terminal()).await;
        session.write(b"helloo\x7f there\n".to_vec()).unwrap();
        until_printed(&session, "got:hello there").await;
        session.write(b"\x04".to_vec()).unwrap();
        assert_eq!(session.ended().await.outcome.exit_code(), 0);
    });
}

#[test]
fn a_trap_sees_the_interrupt_on_a_terminal_and_on_pipes() {
    const TRAP: &str = "trap 'echo trapped; exit 42' INT; echo ready; while :; do read -t 0.05; done";
    under_each_containment(async |engine| {
        let mut typed = begin(engine, TRAP, terminal()).await;
        until_printed(&typed, "ready").await;
        typed.write(b"\x03".to_vec()).unwrap();
        let mut signalled =
            begin(engine, "trap 'echo trapped; exit 42' INT; echo ready; sleep 60 & wait", Stdio::Pipes)
                .await;
        until_printed(&signalled, "ready").await;
        signalled.signal(Signal::INT);
        for session in [&mut typed, &mut signalled] {
            let view = session.ended().await;
            assert_eq!(view.outcome.exit_code(), 42, "{:?}", view.outcome);
            assert!(text(&view.stdout.head).contains("trapped"));
        }
    });
}

#[test]
fn an_interrupt_without_a_trap_ends_with_130() {
    under_each_containment(async |engine| {
        for stdio in [Stdio::Pipes, terminal()] {
            let mut session = begin(engine, "echo ready; exec sleep 60", stdio).await;
            until_printed(&session, "ready").await;
            session.signal(Signal::INT);
            assert_eq!(session.ended().await.outcome.exit_code(), 130);
        }
    });
}

#[test]
fn a_resize_is_seen_and_signalled() {
    under_each_containment(async |engine| {
        let mut session = begin(
            engine,
            "trap 'stty size; exit' WINCH; echo ready; while :; do read -t 0.05; done",
            terminal(),
        )
        .await;
        until_printed(&session, "ready").await;
        session.resize(Size { rows: 45, cols: 132 });
        let view = session.ended().await;
        assert!(shown(&view).contains("45 132"), "{}", shown(&view));
    });
}

#[test]
fn an_interactive_shell_has_job_control_and_ends_when_it_is_stopped() {
    under_each_containment(async |engine| {
        let mut session = begin(engine, "exec bash --norc --noprofile -i", terminal()).await;
        session.write(b"sh -c 'echo runs; exec sleep 60'\n".to_vec()).unwrap();
        until_printed(&session, "\nruns\r\n").await;
        session.write(b"\x1a".to_vec()).unwrap();
        until_printed(&session, "Stopped").await;
        session.write(b"jobs -l; echo still-$((40+2))\n".to_vec()).unwrap();
        until_printed(&session, "still-42").await;
        session.stop(StopReason::Cancelled);
        let outcome = session.ended().await.outcome;
        assert_eq!(outcome.stopped, Some(StopReason::Cancelled));
        assert_eq!(outcome.tree.survivors, Vec::<i32>::new());
    });
}

#[test]
fn a_pipe_session_reads_what_is_written_until_its_input_is_closed() {
    under_each_containment(async |engine| {
        let mut session = begin(engine, "cat; echo done", Stdio::Open).await;
        session.write(b"one\n".to_vec()).unwrap();
        until_printed(&session, "one\n").await;
        session.write(b"two\n".to_vec()).unwrap();
        session.close_input().unwrap();
        assert_eq!(text(&session.ended().await.stdout.head), "one\ntwo\ndone\n");
        assert_eq!(session.write(b"late".to_vec()), Err(NotTaken::Closed));
    });
}

#[test]
fn a_session_without_an_input_takes_nothing() {
    under_each_containment(async |engine| {
        let session = begin(engine, "sleep 60", Stdio::Pipes).await;
        assert_eq!(session.write(b"x".to_vec()), Err(NotTaken::NoInput));
    });
}

#[test]
fn a_command_that_reads_nothing_holds_up_nobody() {
    under_each_containment(async |engine| {
        let stalled = begin(engine, "echo ready; sleep 60", Stdio::Open).await;
        until_printed(&stalled, "ready").await;
        stalled.write(vec![b'x'; 1 << 20]).unwrap();
        let mut refused = stalled.write(vec![b'x'; 1 << 20]);
        assert_eq!(refused, Err(NotTaken::Full));
        let view = run(engine, ask(&["print", "alive"])).await;
        assert_eq!(text(&view.stdout.head), "alive");
        refused = stalled.write(Vec::new());
        assert_eq!(refused, Ok(()));
    });
}

#[test]
fn a_line_that_a_terminal_would_cut_is_not_written() {
    under_each_containment(async |engine| {
        let mut lines = begin(engine, "stty -echo; echo ready; wc -c", terminal()).await;
        until_printed(&lines, "ready").await;
        let refused = lines.write([vec![b'x'; 4096], b"\n".to_vec()].concat());
        assert_eq!(refused, Err(NotTaken::LongLine { length: 4096, most: 4095 }));
        lines.write([vec![b'x'; 4095], b"\n".to_vec()].concat()).unwrap();
        lines.close_input().unwrap();
        assert!(text(&lines.ended().await.stdout.head).contains("\n4096\r\n"));

        let mut keys = begin(engine, "stty raw -echo; echo ready; head -c 9000 | wc -c", terminal()).await;
        until_printed(&keys, "ready").await;
        keys.write(vec![b'x'; 9000]).unwrap();
        assert!(text(&keys.ended().await.stdout.head).contains("9000"));
    });
}

#[test]
fn the_input_of_a_terminal_ends_in_the_middle_of_a_line_too() {
    under_each_containment(async |engine| {
        let mut session = begin(engine, "stty -echo; echo ready; cat; echo end", terminal()).await;
        until_printed(&session, "ready").await;
        session.write(b"half".to_vec()).unwrap();
        session.close_input().unwrap();
        assert_eq!(text(&session.ended().await.stdout.head), "ready\r\nhalfend\r\n");
    });
}

#[test]
fn a_terminal_that_nobody_holds_for_a_while_is_not_at_its_end() {
    under_each_containment(async |engine| {
        let cmd = "exec 3<&- <&- >&- 2>&-; sleep 0.1; echo back >/dev/tty; exit 5";
        let view = run(engine, on_terminal(script(cmd))).await;
        assert_eq!((shown(&view).as_str(), view.outcome.exit_code()), ("back\n", 5));
    });
}

#[test]
fn a_size_that_a_program_sets_is_known() {
    under_each_containment(async |engine| {
        let mut session = begin(engine, "stty rows 10 cols 20; echo ready; sleep 60", terminal()).await;
        until_printed(&session, "ready").await;
        assert_eq!(session.size(), Some(Size { rows: 10, cols: 20 }));
        session.stop(StopReason::Cancelled);
        session.over().await;
        assert_eq!(session.size(), Some(Size { rows: 10, cols: 20 }));
    });
}

#[test]
fn a_terminal_that_floods_loses_nothing() {
    under_each_containment(async |engine| {
        let view = run(engine, on_terminal(line("stty -opost; seq 100000"))).await;
        let printed = view.stdout.head.len() as u64 + view.stdout.missing + view.stdout.tail.len() as u64;
        assert_eq!(printed, 588_895);
        assert!(view.stdout.tail.is_empty() || view.stdout.tail.ends_with(b"100000\n"));
    });
}

#[test]
fn a_background_job_that_is_left_on_a_terminal_is_ended_and_counted() {
    under_each_containment(async |engine| {
        let view = run(engine, on_terminal(script("trap '' HUP; sleep 60 & echo started"))).await;
        assert!(shown(&view).contains("started"));
        assert_eq!(view.outcome.tree.ended, 1, "{:?}", view.outcome);
    });
}

#[test]
fn the_log_of_a_terminal_is_its_standard_output() {
    under_each_containment(async |engine| {
        let mut session = begin(engine, "echo out; echo err >&2", terminal()).await;
        session.ended().await;
        assert_eq!(text(&session.log().captured(Stream::Stdout).head), "out\r\nerr\r\n");
    });
}
