//! Signals go along; the second one gives up.

use std::io::{BufRead, BufReader};

use runward_testkit::{Marker, eventually};
use rustix::process::Signal;

use super::program::{RunRemote, Started};
use crate::raw::server::Raw;

fn ready(raw: &Raw, script: &str) -> Started {
    let mut started = RunRemote::on(raw, &["--", "sh", "-c", script]).start();
    let mut line = String::new();
    let mut output = BufReader::new(started.0.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    started.0.stdout = Some(output.into_inner());
    started
}

#[test]
fn a_signal_reaches_the_command_which_may_handle_it() {
    let raw = Raw::allowing("*");
    for (signal, name) in [(Signal::INT, "INT"), (Signal::TERM, "TERM"), (Signal::HUP, "HUP")] {
        let script = format!("trap 'echo caught; exit 9' {name}; echo ready; while :; do sleep 0.01; done");
        let started = ready(&raw, &script);
        started.signal(signal);
        let ended = started.ended();
        assert_eq!((ended.code, ended.text()), (Some(9), "caught\n"), "{name}");
    }
}

#[test]
fn a_command_that_dies_of_it_is_told_like_that() {
    let raw = Raw::allowing("*");
    let started = ready(&raw, "echo ready; exec sleep 60");
    started.signal(Signal::INT);
    assert_eq!(started.ended().code, Some(130));
}

#[test]
fn the_second_signal_gives_up_here_and_ends_it_there() {
    let raw = Raw::allowing("*");
    let marker = Marker::new();
    let script = format!("trap '' INT; echo ready; sh -c 'trap \"\" INT; sleep 60' {}", marker.as_str());
    let started = ready(&raw, &script);
    eventually("it runs", || !marker.carriers().is_empty());
    started.signal(Signal::INT);
    started.signal(Signal::INT);
    let mut again = started;
    eventually("run-remote gives up", || {
        if let Some(status) = again.0.try_wait().unwrap() {
            assert_eq!(status.code(), Some(130));
            return true;
        }
        // Two signals that come at once may count as one.
        again.signal(Signal::INT);
        false
    });
    eventually("the command is gone", || marker.carriers().is_empty());
}

#[test]
fn a_client_that_is_killed_ends_its_command_after_a_while() {
    let raw = Raw::puppet();
    let marker = Marker::new();
    let mut started = RunRemote::puppet(&raw, &["family", marker.as_str(), "wait"]).start();
    eventually("the family is there", || marker.carriers().len() >= 8);
    started.0.kill().unwrap();
    started.0.wait().unwrap();
    eventually("the family is gone", || marker.carriers().is_empty());
}
