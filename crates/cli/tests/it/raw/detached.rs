//! A detached command goes on without its client, for any number of readers.

use runward_testkit::{Marker, eventually};
use serde_json::{Value, json};

use super::server::{Answer, Raw, printed, puppet_with};

fn detached(raw: &Raw, verbs: &[&str]) -> (Answer, String) {
    let mut body = puppet_with(verbs);
    body["detach"] = json!(true);
    let mut stream = raw.run(&body);
    let session = stream.start();
    (stream, session)
}

#[test]
fn it_goes_on_without_its_client_and_is_followed_from_any_point() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let raw = Raw::puppet();
    let verbs =
        ["print", "one", "touch", &file("printed"), "await", &file("go"), "eprint", "two", "exit", "5"];
    let (stream, session) = detached(&raw, &verbs);
    drop(stream);
    eventually("it goes on", || std::path::Path::new(&file("printed")).exists());
    let early = [raw.follow(&session, 0), raw.follow(&session, 1)];
    std::fs::write(file("go"), "").unwrap();
    let all: Vec<Vec<Value>> = early.into_iter().map(Answer::events).collect();
    assert_eq!(all[0][0]["event"], "start");
    assert_eq!(all[0][1..], all[1]);
    assert_eq!((printed(&all[1], "stdout"), printed(&all[1], "stderr")), (b"one".to_vec(), b"two".to_vec()));
    assert_eq!(all[1].last().unwrap()["exitCode"], 5);
    for from in 0..=all[0].len() {
        assert_eq!(raw.follow(&session, from as u64).events(), all[0][from..], "after the end, from {from}");
    }
}

#[test]
fn a_reader_that_stands_still_holds_nobody_back() {
    const BYTES: usize = 30_000_000;
    let raw = Raw::puppet();
    let marker = Marker::new();
    let (still, session) = detached(&raw, &["flood", &BYTES.to_string(), "eprint", marker.as_str()]);
    eventually("it ends", || marker.carriers().is_empty());
    let events = raw.follow(&session, 1).events();
    assert_eq!(printed(&events, "stdout").len(), BYTES);
    assert_eq!(printed(&events, "stderr"), marker.as_str().as_bytes());
    let late = still.events();
    assert_eq!(late, events, "whoever stood still gets everything too");
}

#[test]
fn what_the_quota_does_not_let_be_kept_is_counted() {
    let allowed = runward_testkit::puppet();
    let raw = Raw::with(&[("ALLOWED_COMMANDS", allowed.to_str().unwrap()), ("RUNWARD_OUTPUT_QUOTA", "1MiB")]);
    let (stream, _) = detached(&raw, &["flood", "3000000"]);
    let events = stream.events();
    let gap = &events[events.len() - 2];
    assert_eq!((&gap["event"], &gap["stream"]), (&json!("gap"), &json!("stdout")), "{gap}");
    assert_eq!(printed(&events, "stdout").len() as u64 + gap["bytes"].as_u64().unwrap(), 3_000_000);
    assert_eq!(events.last().unwrap()["exitCode"], 0);
}

#[test]
fn it_is_driven_and_ended_from_elsewhere() {
    let raw = Raw::puppet();
    let marker = Marker::new();
    let (stream, session) = detached(&raw, &["family", marker.as_str(), "wait"]);
    drop(stream);
    eventually("the family is there", || marker.carriers().len() >= 8);
    assert_eq!(raw.send("DELETE", &format!("/raw/{session}"), &[], b"").status, 200);
    eventually("the family is gone", || marker.carriers().is_empty());
    let events = raw.follow(&session, 1).events();
    assert_eq!(events.last().unwrap()["stopped"], "cancelled");
}
