//! The behaviours.

use std::time::Duration;

use runward_testkit::{Marker, eventually};

use super::door::{Ask, CallId, Door, Open, Setup, ask};

/// The puppet itself and seven kinds of grandchildren.
const FAMILY: usize = 8;

/// More than a family takes to come together on a busy machine.
const LONG_ENOUGH: Duration = Duration::from_millis(2500);

const FLOOD: u64 = 50_000_000;
const KEPT: u64 = 1 << 20;

fn open_for_puppet(open: Open) -> Box<dyn Door> {
    open(&Setup::puppet())
}

pub(super) fn outputs_and_a_clean_exit_are_reported(open: Open) {
    let reply = open_for_puppet(open).call(&ask(&["print", "out é\n", "eprint", "err"]));
    assert_eq!((reply.is_error, reply.exit_code), (false, Some(0)), "{reply:?}");
    assert_eq!((reply.stdout.as_str(), reply.stderr.as_str()), ("out é\n", "err"));
    assert_eq!((&reply.signal, &reply.error, &reply.background), (&None, &None, &None));
}

pub(super) fn an_exit_code_is_no_error(open: Open) {
    let reply = open_for_puppet(open).call(&ask(&["print", "so far", "exit", "7"]));
    assert_eq!((reply.is_error, reply.exit_code, reply.stdout.as_str()), (false, Some(7), "so far"));
}

pub(super) fn death_by_signal_is_named_and_no_error(open: Open) {
    let mut door = open_for_puppet(open);
    for (number, name) in [(9, "SIGKILL"), (6, "SIGABRT"), (15, "SIGTERM")] {
        let reply = door.call(&ask(&["die", &number.to_string()]));
        assert_eq!((reply.is_error, reply.exit_code), (false, Some(128 + number)), "{reply:?}");
        assert_eq!(reply.signal.as_deref(), Some(name));
    }
}

pub(super) fn given_input_is_read_to_its_end(open: Open) {
    let input = " first\r\nsecond\u{2028}\n---\n";
    let reply = open_for_puppet(open).call(&Ask { input: Some(input.into()), ..ask(&["echo"]) });
    assert_eq!((reply.exit_code, reply.stdout.as_str()), (Some(0), input));
}

pub(super) fn without_input_there_is_nothing_to_wait_for(open: Open) {
    let reply = open_for_puppet(open).call(&ask(&["echo", "print", "done"]));
    assert_eq!((reply.exit_code, reply.stdout.as_str()), (Some(0), "done"));
}

pub(super) fn a_mebibyte_of_input_comes_back_whole(open: Open) {
    let input: String = (b'a'..=b'z').cycle().take(1 << 20).map(char::from).collect();
    let reply = open_for_puppet(open).call(&Ask { input: Some(input.clone()), ..ask(&["echo"]) });
    assert_eq!((reply.exit_code, reply.missing), (Some(0), 0));
    assert!(reply.stdout == input, "{} bytes came back", reply.stdout.len());
}

pub(super) fn a_directory_is_entered(open: Open) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap().to_str().unwrap().to_owned();
    let reply = open_for_puppet(open).call(&Ask { cwd: Some(path.clone()), ..ask(&["pwd"]) });
    assert_eq!((reply.exit_code, reply.stdout), (Some(0), path));
}

pub(super) fn a_directory_that_is_missing_is_refused(open: Open) {
    let reply = open_for_puppet(open).call(&Ask { cwd: Some("/no/such/place".into()), ..ask(&["pwd"]) });
    assert_eq!(reply.refusal(), "cwd does not exist: /no/such/place");
}

pub(super) fn a_command_that_is_not_allowed_is_refused(open: Open) {
    let mut door = open(&Setup { allowed: "ls, cat".into() });
    let reply = door.call(&Ask { file: "whoami".into(), ..ask(&[]) });
    assert_eq!(
        reply.refusal(),
        "command \"whoami\" is not allowed; allowed commands: ls, cat (set ALLOWED_COMMANDS to change this)"
    );
}

pub(super) fn a_program_that_is_nowhere_is_refused(open: Open) {
    let mut door = open(&Setup { allowed: "*".into() });
    let reply = door.call(&Ask { file: "whoamj".into(), ..ask(&[]) });
    let reason = reply.refusal();
    assert!(reason.starts_with("program not found: whoamj") && reason.contains("whoami"), "{reason}");
}

pub(super) fn a_timeout_keeps_what_was_printed_and_ends_the_whole_family(open: Open) {
    let (mut door, marker) = (open_for_puppet(open), Marker::new());
    let verbs = ["print", "before", "eprint", "too", "family", marker.as_str(), "wait"];
    let call = door.begin(&Ask { timeout: LONG_ENOUGH, ..ask(&verbs) });
    wait_for_family(&marker);
    let reply = door.finish(call);
    assert_eq!((reply.is_error, reply.exit_code), (true, Some(124)), "{reply:?}");
    assert_eq!(reply.error.as_deref(), Some("Timed out after 2500ms"));
    assert_eq!((reply.stdout.as_str(), reply.stderr.as_str()), ("before", "too"));
    assert_eq!(marker.carriers(), Vec::<i32>::new());
}

pub(super) fn a_timeout_gets_through_a_flood(open: Open) {
    let endless = ask(&["flood", "1000000000000"]);
    let reply = open_for_puppet(open).call(&Ask { timeout: Duration::from_millis(300), ..endless });
    assert_eq!((reply.is_error, reply.exit_code), (true, Some(124)));
}

pub(super) fn a_cancelled_call_ends_the_whole_family(open: Open) {
    let mut door = open_for_puppet(open);
    let (call, marker) = begin_family(door.as_mut());
    door.cancel(call);
    eventually("the family is gone", || marker.carriers().is_empty());
}

pub(super) fn a_call_after_one_that_was_stopped_is_not_stopped_with_it(open: Open) {
    let mut door = open_for_puppet(open);
    let (call, marker) = begin_family(door.as_mut());
    door.cancel(call);
    eventually("the family is gone", || marker.carriers().is_empty());
    for _ in 0..3 {
        let stopped = door.call(&Ask { timeout: Duration::from_millis(50), ..ask(&["wait"]) });
        assert_eq!(stopped.exit_code, Some(124), "{stopped:?}");
        let reply = door.call(&ask(&["print", "untouched"]));
        assert_eq!((reply.exit_code, reply.stdout.as_str()), (Some(0), "untouched"), "{reply:?}");
    }
}

pub(super) fn a_caller_that_goes_away_ends_the_whole_family(open: Open) {
    let mut door = open_for_puppet(open);
    let (call, marker) = begin_family(door.as_mut());
    door.vanish(call);
    eventually("the family is gone", || marker.carriers().is_empty());
}

pub(super) fn a_server_that_is_told_to_stop_ends_the_whole_family(open: Open) {
    let mut door = open_for_puppet(open);
    let (_, marker) = begin_family(door.as_mut());
    door.shut_down();
    assert_eq!(marker.carriers(), Vec::<i32>::new());
}

pub(super) fn a_killed_server_leaves_nobody_behind(open: Open) {
    let mut door = open_for_puppet(open);
    let (_, marker) = begin_family(door.as_mut());
    door.kill();
    eventually("the family is gone", || marker.carriers().is_empty());
}

pub(super) fn a_flood_is_cut_in_the_middle_and_says_by_how_much(open: Open) {
    let reply = open_for_puppet(open).call(&ask(&["print", "begin", "flood", "3000000", "print", "end"]));
    assert_eq!((reply.is_error, reply.exit_code), (false, Some(0)));
    assert_eq!(reply.missing, 3_000_008 - KEPT);
    assert!(reply.stdout.starts_with("begin0123") && reply.stdout.ends_with("end"));
}

pub(super) fn memory_stays_bounded_in_a_flood(open: Open) {
    /// 32 MB, in KiB.
    const BOUND: u64 = 31_250;
    let mut door = open_for_puppet(open);
    let reply = door.call(&ask(&["flood", &FLOOD.to_string()]));
    assert_eq!(reply.missing, FLOOD - KEPT);
    let peak = door.peak_memory_kib();
    assert!(peak < BOUND, "{peak} KiB");
}

pub(super) fn a_flood_arrives_whole_and_memory_stays_bounded(open: Open) {
    /// 40 MB, in KiB.
    const BOUND: u64 = 39_062;
    let mut door = open_for_puppet(open);
    let reply = door.call(&ask(&["print", "begin", "flood", "3000000", "print", "end"]));
    assert_eq!((reply.is_error, reply.exit_code, reply.stdout.len()), (false, Some(0), 3_000_008));
    assert!(reply.stdout.starts_with("begin0123") && reply.stdout.ends_with("end"));
    let peak = door.peak_memory_kib();
    assert!(peak < BOUND, "{peak} KiB");
}

pub(super) fn a_child_left_behind_does_not_keep_the_answer(open: Open) {
    let marker = Marker::new();
    let reply = open_for_puppet(open).call(&ask(&["orphan", marker.as_str(), "print", "done"]));
    assert_eq!((reply.is_error, reply.exit_code, reply.stdout.as_str()), (false, Some(0), "done"));
    assert!(reply.background.unwrap().starts_with("1 "));
    assert_eq!(marker.carriers(), Vec::<i32>::new());
}

pub(super) fn calls_run_side_by_side(open: Open) {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let mut door = open_for_puppet(open);
    let one = door.begin(&ask(&["touch", &file("one"), "await", &file("two"), "print", "one"]));
    let two = door.begin(&ask(&["await", &file("one"), "touch", &file("two"), "print", "two"]));
    assert_eq!(door.finish(one).stdout, "one");
    assert_eq!(door.finish(two).stdout, "two");
}

pub(super) fn bytes_that_are_no_text_are_replaced_and_named(open: Open) {
    let reply = open_for_puppet(open).call(&ask(&["bytes", "61ff62c328", "eprint", "fine"]));
    assert_eq!(reply.stdout, "a\u{FFFD}b\u{FFFD}(");
    assert_eq!(reply.invalid_utf8, ["stdout"]);
}

fn begin_family(door: &mut dyn Door) -> (CallId, Marker) {
    let marker = Marker::new();
    let call = door.begin(&ask(&["family", marker.as_str(), "wait"]));
    wait_for_family(&marker);
    (call, marker)
}

fn wait_for_family(marker: &Marker) {
    eventually("the family is there", || marker.carriers().len() >= FAMILY);
}
