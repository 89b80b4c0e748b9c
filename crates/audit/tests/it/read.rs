//! Reading back.

use regex::Regex;
use runward_audit::{Call, CallId, Closed, Error, Filter, Hash, Order, Time, Trail};
use runward_model::Decision;

use crate::{judged, refuse, ruling, tamper, trail};

fn commands(trail: &Trail, filter: Filter, order: Order) -> Vec<String> {
    trail.query(filter, order).map(|call| call.unwrap().judged.command).collect()
}

fn newest(trail: &Trail, filter: Filter) -> Vec<String> {
    commands(trail, filter, Order::NewestFirst)
}

/// `echo 1` by one client, left open; `echo 2` denied; `echo 3` by another client, refused for another reason.
fn three_calls() -> (tempfile::TempDir, Trail) {
    let (directory, trail) = trail();
    let call = CallId::fresh();
    let client = |name: &str| runward_model::Client { name: name.into(), version: "1".into() };
    let mut first = judged(&call, "echo 1");
    first.client = Some((&client("Editor")).into());
    trail.append(first).unwrap();
    let call = CallId::fresh();
    let mut second = judged(&call, "echo 2");
    second.verdict = Some(ruling(Decision::Deny));
    trail.append_all([second.into(), Closed::refused(call, "blocked by a rule").into()]).unwrap();
    let call = CallId::fresh();
    let mut third = judged(&call, "echo 3");
    (third.client, third.verdict) = (Some((&client("other")).into()), None);
    trail.append_all([third.into(), Closed::refused(call, "no such directory").into()]).unwrap();
    (directory, trail)
}

#[test]
fn calls_come_in_either_order() {
    let (_directory, trail) = three_calls();
    assert_eq!(newest(&trail, Filter::default()), ["echo 3", "echo 2", "echo 1"]);
    assert_eq!(commands(&trail, Filter::default(), Order::OldestFirst), ["echo 1", "echo 2", "echo 3"]);
}

#[test]
fn filters_narrow_and_combine() {
    let (_directory, trail) = three_calls();
    let client = Some("editor".to_owned());
    assert_eq!(newest(&trail, Filter { client: client.clone(), ..Filter::default() }), ["echo 1"]);
    assert_eq!(newest(&trail, Filter { denied: true, ..Filter::default() }), ["echo 3", "echo 2"]);
    assert!(newest(&trail, Filter { denied: true, client, ..Filter::default() }).is_empty());
    let grep = |pattern| Some(Regex::new(pattern).unwrap());
    assert_eq!(newest(&trail, Filter { grep: grep("[12]$"), ..Filter::default() }), ["echo 2", "echo 1"]);
    assert_eq!(newest(&trail, Filter { grep: grep("by a rule"), ..Filter::default() }), ["echo 2"]);
    assert_eq!(
        newest(&trail, Filter { grep: grep("^/bin/"), limit: Some(1), ..Filter::default() }),
        ["echo 3"]
    );
}

#[test]
fn since_and_call_pick_by_time_and_by_name() {
    let (_directory, trail) = three_calls();
    let calls: Vec<Call> = trail.query(Filter::default(), Order::OldestFirst).map(Result::unwrap).collect();
    let since = |text| Some(Time::since(text, Time::now()).unwrap());
    assert_eq!(newest(&trail, Filter { since: since("1h"), ..Filter::default() }).len(), 3);
    assert_eq!(newest(&trail, Filter { since: Some(calls[0].time), ..Filter::default() }).len(), 3);
    assert!(newest(&trail, Filter { since: since("9999-01-01"), ..Filter::default() }).is_empty());
    let call = Some(calls[1].judged.call.clone());
    assert_eq!(newest(&trail, Filter { call, ..Filter::default() }), ["echo 2"]);
    assert!(newest(&trail, Filter { call: Some("unknown".into()), ..Filter::default() }).is_empty());
}

#[test]
fn a_call_comes_with_everything_that_is_known_of_it() {
    let (_directory, trail) = three_calls();
    let calls: Vec<Call> = trail.query(Filter::default(), Order::OldestFirst).map(Result::unwrap).collect();
    assert!(calls[0].closed.is_none(), "it is open");
    assert_eq!(calls[1].closed.as_ref().unwrap().closing.reason(), Some("blocked by a rule"));
    assert_eq!(calls[1].number, 2);
    assert_eq!(calls[1].server.pid, std::process::id());
}

#[test]
fn more_calls_than_a_page_come_all_and_once() {
    let (_directory, trail) = trail();
    let written: Vec<String> = (0..300).map(|number| format!("echo {number}")).collect();
    for command in &written {
        refuse(&trail, command);
    }
    assert_eq!(commands(&trail, Filter::default(), Order::OldestFirst), written);
    assert_eq!(newest(&trail, Filter { limit: Some(200), ..Filter::default() }).len(), 200);
    let mut reversed = written;
    reversed.reverse();
    assert_eq!(newest(&trail, Filter::default()), reversed);
}

#[test]
fn a_record_that_cannot_be_read_comes_as_its_error_and_the_rest_follows() {
    let (_directory, trail) = three_calls();
    tamper(&trail, "UPDATE record SET body = replace(body, '\"door\":', '\"window\":') WHERE number = 2");
    let calls: Vec<_> = trail.query(Filter::default(), Order::OldestFirst).collect();
    assert_eq!(calls.len(), 3);
    assert!(matches!(calls[1], Err(Error::Body { number: 2, .. })));
}

#[test]
fn an_export_has_every_record_and_its_hashes_can_be_checked() {
    let (_directory, trail) = three_calls();
    let mut lines = Vec::new();
    assert_eq!(trail.export(Filter::default(), &mut lines, |error| panic!("{error}")).unwrap(), 5);
    let mut prev = Hash::GENESIS;
    for (number, line) in (1..).zip(str::from_utf8(&lines).unwrap().lines()) {
        let body = line.split_once(r#","body":"#).unwrap().1.strip_suffix('}').unwrap();
        let hash = Hash::of(prev, number, body);
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["number"], number);
        assert_eq!(value["prev"], prev.to_string());
        assert_eq!(value["hash"], hash.to_string());
        assert_eq!(value["body"]["principal"].is_string(), value["body"]["phase"] == "judged");
        prev = hash;
    }
    assert_eq!(trail.verify().unwrap().head, Some((5, prev)));
}

#[test]
fn an_export_with_a_filter_has_the_records_of_those_calls() {
    let (_directory, trail) = three_calls();
    let mut lines = Vec::new();
    assert_eq!(
        trail
            .export(Filter { denied: true, ..Filter::default() }, &mut lines, |error| panic!("{error}"))
            .unwrap(),
        4
    );
}
