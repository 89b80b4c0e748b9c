//! What the command prints and how it ends, as if it ran here.

use std::io::{BufRead, BufReader, Read};

use runward_testkit::{Marker, eventually};

use super::program::RunRemote;
use crate::raw::server::Raw;

#[test]
fn both_outputs_and_the_exit_code_are_the_commands() {
    let ended = RunRemote::puppet(&Raw::puppet(), &["print", "out", "eprint", "err", "exit", "7"]).run();
    assert_eq!((ended.code, ended.text(), ended.stderr.as_str()), (Some(7), "out", "err"));
}

#[test]
fn every_exit_code_is_passed_on() {
    let raw = Raw::puppet();
    for code in [0, 1, 2, 124, 127, 246, 255] {
        let ended = RunRemote::puppet(&raw, &["exit", &code.to_string()]).run();
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(code), ""));
    }
}

#[test]
fn death_by_a_signal_is_told_as_shells_do() {
    let raw = Raw::puppet();
    for (signal, code) in [("9", 137), ("6", 134), ("15", 143)] {
        assert_eq!(RunRemote::puppet(&raw, &["die", signal]).run().code, Some(code));
    }
}

#[test]
fn bytes_go_through_as_they_are() {
    let all: Vec<u8> = (0..=255).collect();
    let digits = crate::raw::server::hexadecimal(&all);
    assert_eq!(RunRemote::puppet(&Raw::puppet(), &["bytes", &digits]).run().stdout, all);
}

#[test]
fn fifty_megabytes_go_through_whole_and_cost_the_server_little() {
    const BYTES: usize = 50_000_000;
    let raw = Raw::puppet();
    let ended = RunRemote::puppet(&raw, &["flood", &BYTES.to_string(), "eprint", "end"]).run();
    let line = [b"0123456789abcdef".repeat(4096), b"\n".to_vec()].concat();
    assert!(ended.stdout.chunks(line.len()).all(|chunk| chunk == &line[..chunk.len()]));
    assert_eq!((ended.stdout.len(), ended.stderr.as_str(), ended.code), (BYTES, "end", Some(0)));
    assert!(raw.server.peak_memory_kib() < 39_062, "{} KiB", raw.server.peak_memory_kib());
}

#[test]
fn what_is_printed_arrives_before_the_command_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("go");
    let raw = Raw::puppet();
    let mut started =
        RunRemote::puppet(&raw, &["print", "no newline", "await", file.to_str().unwrap()]).start();
    let mut first = [0; 10];
    started.0.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"no newline");
    std::fs::write(&file, "").unwrap();
    assert!(started.status().success());
}

#[test]
fn an_output_that_nobody_reads_any_more_ends_the_command_quietly() {
    let raw = Raw::puppet();
    let marker = Marker::new();
    let mut started = RunRemote::puppet(&raw, &["flood", "1000000000000", "print", marker.as_str()]).start();
    let mut line = String::new();
    BufReader::new(started.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("0123"));
    let ended = started.ended();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(141), ""), "{ended:?}");
    eventually("the command is gone", || marker.carriers().is_empty());
}

#[test]
fn a_reader_that_is_slow_misses_nothing() {
    const BYTES: usize = 20_000_000;
    let raw = Raw::puppet();
    let mut started = RunRemote::puppet(&raw, &["flood", &BYTES.to_string()]).start();
    let mut output = started.0.stdout.take().unwrap();
    let (mut total, mut block) = (0, vec![0; 1 << 20]);
    loop {
        let read = output.read(&mut block).unwrap();
        total += read;
        if read == 0 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!((total, started.status().code()), (BYTES, Some(0)));
}

#[test]
fn a_timeout_ends_it_like_the_command_of_that_name_does() {
    let raw = Raw::puppet();
    let puppet = runward_testkit::puppet();
    let args = ["--timeout", "300ms", "--", puppet.to_str().unwrap(), "print", "before", "wait"];
    let ended = RunRemote::on(&raw, &args).run();
    assert_eq!((ended.code, ended.text()), (Some(124), "before"));
    assert_eq!(ended.stderr, "run-remote: Timed out after 300ms\n");
}
