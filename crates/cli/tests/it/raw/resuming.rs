//! A client whose connection was lost comes back and misses nothing.

use runward_testkit::{Marker, eventually};
use serde_json::json;

use super::server::{Answer, Raw, printed, puppet_with};

fn resumable(raw: &Raw, verbs: &[&str], milliseconds: u64) -> (Answer, String) {
    let mut body = puppet_with(verbs);
    body["resume_ms"] = json!(milliseconds);
    let mut stream = raw.run(&body);
    let session = stream.start();
    (stream, session)
}

#[test]
fn whoever_comes_back_in_time_goes_on_where_it_stopped() {
    const BYTES: usize = 3_000_000;
    let raw = Raw::puppet();
    let (mut stream, session) = resumable(&raw, &["flood", &BYTES.to_string(), "exit", "3"], 60_000);
    let mut events = vec![stream.event().unwrap(), stream.event().unwrap()];
    drop(stream);
    let next = events.last().unwrap()["seq"].as_u64().unwrap() + 1;
    events.extend(raw.follow(&session, next).events());
    assert_eq!(printed(&events, "stdout").len(), BYTES);
    assert_eq!(events.last().unwrap()["exitCode"], 3);
    let numbers: Vec<_> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
}

#[test]
fn what_was_acknowledged_is_no_longer_kept_and_makes_room() {
    const BYTES: usize = 12_000_000;
    let raw = Raw::puppet();
    let (mut stream, session) = resumable(&raw, &["flood", &BYTES.to_string()], 60_000);
    let (mut total, mut last) = (0, 0);
    while let Some(event) = stream.event() {
        last = event["seq"].as_u64().unwrap();
        if event["event"] == "stdout" {
            total += super::server::unpacked(&event).len();
            assert_eq!(raw.post(&format!("/raw/{session}/ack"), &json!({"seq": last})).status, 200);
        }
    }
    assert_eq!(total, BYTES);
    let gone = raw.follow(&session, 1).events();
    assert_eq!(gone[0]["event"], "error", "{gone:?}");
    assert_eq!(raw.follow(&session, last).events()[0]["event"], "exit");
}

#[test]
fn whoever_does_not_come_back_ends_everything_that_it_started() {
    let raw = Raw::puppet();
    let marker = Marker::new();
    let (stream, session) = resumable(&raw, &["family", marker.as_str(), "wait"], 300);
    eventually("the family is there", || marker.carriers().len() >= 8);
    drop(stream);
    eventually("the family is gone", || marker.carriers().is_empty());
    eventually("its events are gone too", || raw.follow(&session, 1).status == 410);
}

#[test]
fn nobody_follows_a_session_that_was_not_started_for_it() {
    let raw = Raw::puppet();
    let mut stream = raw.run_puppet(&["wait"]);
    let session = stream.start();
    assert_eq!(raw.follow(&session, 0).refusal(), (409, "taken".to_owned()));
}
