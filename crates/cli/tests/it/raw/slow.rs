//! A slow reader slows its command, never the server.

use std::time::Duration;

use runward_testkit::{Marker, eventually};

use super::server::{Raw, printed};

/// 40 MB, in KiB.
const BOUND: u64 = 39_062;

#[test]
fn a_reader_of_one_byte_a_second_costs_no_memory_and_harms_nobody() {
    let raw = Raw::puppet();
    let marker = Marker::new();
    let mut slow = raw.run_puppet(&["flood", "1000000000000", "print", marker.as_str()]);
    slow.start();
    for round in 0..10 {
        // A second between two bytes looks the same to the server as a reader that has stopped altogether.
        let beside = raw.run_puppet(&["flood", "3000000", "print", &round.to_string()]).events();
        assert!(printed(&beside, "stdout").ends_with(round.to_string().as_bytes()));
    }
    slow.read_one_byte();
    assert!(raw.server.peak_memory_kib() < BOUND, "{} KiB", raw.server.peak_memory_kib());
    assert_eq!(marker.carriers().len(), 1, "it still waits");
    drop(slow);
    eventually("it is gone with its reader", || marker.carriers().is_empty());
}

#[test]
fn a_reader_that_comes_late_gets_everything_of_a_program_that_ended_long_ago() {
    const BYTES: usize = 30_000_000;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pid");
    let raw = Raw::puppet();
    let mut stream =
        raw.run_puppet(&["touch", file.to_str().unwrap(), "flood", &BYTES.to_string(), "eprint", "end"]);
    stream.start();
    eventually("it runs", || file.exists());
    // Longer than the outputs of an ended command are otherwise waited for.
    std::thread::sleep(Duration::from_secs(1));
    let events = stream.events();
    assert_eq!(printed(&events, "stdout").len(), BYTES);
    assert_eq!(
        (printed(&events, "stderr"), events.last().unwrap().get("output_cut")),
        (b"end".to_vec(), None)
    );
}

#[test]
fn what_is_left_in_a_pipe_waits_for_its_reader_although_the_program_has_ended() {
    // Less than the window, the sockets and the pipes between: the program ends, its output waits.
    let marker = Marker::new();
    let raw = Raw::puppet();
    let mut stream = raw.run_puppet(&["print", "", "flood", "1200000", "print", marker.as_str()]);
    stream.start();
    eventually("it has ended", || marker.carriers().is_empty());
    std::thread::sleep(Duration::from_secs(1));
    let events = stream.events();
    assert_eq!(printed(&events, "stdout").len(), 1_200_000 + marker.as_str().len());
    assert_eq!(events.last().unwrap()["exitCode"], 0);
}

#[test]
fn a_timeout_gets_through_although_nobody_reads() {
    let raw = Raw::puppet();
    let marker = Marker::new();
    let mut body = super::server::puppet_with(&["flood", "1000000000000", "print", marker.as_str()]);
    body["timeout_ms"] = 500.into();
    let mut stream = raw.run(&body);
    stream.start();
    eventually("it was ended", || marker.carriers().is_empty());
    let events = stream.events();
    assert_eq!(events.last().unwrap()["stopped"], "timeout");
}

#[test]
fn a_server_stops_although_nobody_reads() {
    let mut raw = Raw::puppet();
    let mut stream = raw.run_puppet(&["flood", "1000000000000"]);
    stream.start();
    raw.server.signal(rustix::process::Signal::TERM);
    assert!(raw.server.ended().success());
}

#[test]
fn a_client_that_goes_away_ends_everything_that_it_started() {
    let raw = Raw::puppet();
    let marker = Marker::new();
    let mut stream = raw.run_puppet(&["family", marker.as_str(), "wait"]);
    stream.start();
    eventually("the family is there", || marker.carriers().len() >= 8);
    drop(stream);
    eventually("the family is gone", || marker.carriers().is_empty());
}
