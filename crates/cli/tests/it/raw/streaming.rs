//! What is printed arrives, all of it, in order and at once.

use serde_json::json;

use super::server::{Raw, printed, puppet_with, unpacked};

#[test]
fn a_program_is_told_from_its_start_to_its_end_in_numbered_lines() {
    let raw = Raw::puppet();
    let mut stream = raw.run_puppet(&["print", "out", "eprint", "err", "exit", "7"]);
    let start = stream.event().unwrap();
    assert_eq!((&start["event"], &start["seq"]), (&json!("start"), &json!(0)));
    assert!(start["session"].is_string() && start["pid"].as_i64().unwrap() > 1, "{start}");
    let events = stream.events();
    let numbers: Vec<_> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    assert_eq!((printed(&events, "stdout"), printed(&events, "stderr")), (b"out".to_vec(), b"err".to_vec()));
    let last = events.last().unwrap();
    assert_eq!(last, &json!({"event": "exit", "seq": events.len(), "exitCode": 7}));
}

#[test]
fn death_by_signal_has_no_exit_code() {
    let events = Raw::puppet().run_puppet(&["die", "9"]).events();
    assert_eq!(events[1], json!({"event": "exit", "seq": 1, "exitCode": null, "signal": "SIGKILL"}));
}

#[test]
fn every_byte_arrives_as_it_is() {
    let all: Vec<u8> = (0..=255).collect();
    let digits = super::server::hexadecimal(&all);
    let events = Raw::puppet().run_puppet(&["bytes", &digits]).events();
    assert_eq!(printed(&events, "stdout"), all);
}

#[test]
fn what_is_printed_arrives_before_the_program_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("go");
    let raw = Raw::puppet();
    let mut stream = raw.run_puppet(&["print", "first", "await", file.to_str().unwrap(), "eprint", "second"]);
    stream.start();
    assert_eq!(unpacked(&stream.event().unwrap()), b"first");
    std::fs::write(&file, "").unwrap();
    assert_eq!(unpacked(&stream.event().unwrap()), b"second");
}

#[test]
fn nothing_is_capped() {
    const BYTES: usize = 20_000_000;
    let events = Raw::puppet().run_puppet(&["flood", &BYTES.to_string(), "eprint", "end"]).events();
    let out = printed(&events, "stdout");
    let line = [b"0123456789abcdef".repeat(4096), b"\n".to_vec()].concat();
    assert!(out.chunks(line.len()).all(|chunk| chunk == &line[..chunk.len()]));
    assert_eq!((out.len(), printed(&events, "stderr")), (BYTES, b"end".to_vec()));
}

#[test]
fn variables_arguments_and_the_directory_reach_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap();
    let mut body = puppet_with(&["pwd", "print", " a b$HOME ", "env", "GIVEN"]);
    body["cwd"] = json!(path.to_str().unwrap());
    body["env"] = json!({"GIVEN": "it's"});
    let events = Raw::puppet().run(&body).events();
    let wanted = format!("{} a b$HOME it's", path.display());
    assert_eq!(String::from_utf8(printed(&events, "stdout")).unwrap(), wanted);
}

#[test]
fn without_a_word_about_input_there_is_none() {
    let events = Raw::puppet().run_puppet(&["echo", "print", "done"]).events();
    assert_eq!(printed(&events, "stdout"), b"done");
}

#[test]
fn a_timeout_says_that_it_was_one() {
    let mut body = puppet_with(&["print", "before", "wait"]);
    body["timeout_ms"] = json!(300);
    let events = Raw::puppet().run(&body).events();
    assert_eq!(printed(&events, "stdout"), b"before");
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["stopped"]), (&json!("exit"), &json!("timeout")), "{last}");
    assert_eq!((&last["signal"], &last["message"]), (&json!("SIGTERM"), &json!("Timed out after 300ms")));
}

#[test]
fn the_operator_can_set_a_timeout_for_those_who_give_none() {
    let allowed = runward_testkit::puppet();
    let raw = Raw::with(&[("ALLOWED_COMMANDS", allowed.to_str().unwrap()), ("RUNWARD_RAW_TIMEOUT", "200ms")]);
    let events = raw.run_puppet(&["wait"]).events();
    assert_eq!(events[1]["stopped"], "timeout");
}

#[test]
fn a_server_that_stops_tells_the_end_of_its_commands() {
    let mut raw = Raw::puppet();
    let mut stream = raw.run_puppet(&["wait"]);
    stream.start();
    raw.server.signal(rustix::process::Signal::TERM);
    let events = stream.events();
    assert_eq!((&events[0]["event"], &events[0]["stopped"]), (&json!("exit"), &json!("shutting_down")));
    assert!(raw.server.ended().success());
}
