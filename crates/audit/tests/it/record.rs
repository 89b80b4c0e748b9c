//! What is written down.

use std::time::Duration;

use runward_audit::{CallId, Closed, Closing, Entry, Error, Output, Record};
use runward_model::{Containment, Ending, LimitHit, Outcome, Signal, StopReason, Tree, Usage};

use crate::{judged, started, trail};

fn outcome() -> Outcome {
    Outcome {
        ending: Ending::Signaled(Signal::KILL),
        stopped: Some(StopReason::Cancelled),
        wall: Duration::from_micros(1_500),
        usage: Usage { user: Duration::from_micros(7), system: Duration::from_micros(8), max_rss_kib: 9 },
        tree: Tree {
            containment: Containment::Keeper,
            ended: 2,
            kept: false,
            survivors: vec![5],
            left: None,
        },
        limit_hit: Some(LimitHit::Memory),
        waiting_for_input: false,
        output_cut: true,
        denied: None,
    }
}

#[test]
fn a_call_is_read_back_as_it_was_written() {
    let (_directory, trail) = trail();
    let call = CallId::fresh();
    let outputs = (Output { bytes: 10, truncated: 3 }, Output::default());
    let entries: [Entry; 3] = [
        judged(&call, "echo hello").into(),
        started(&call).into(),
        Closed::ended(call.clone(), &outcome(), outputs.0, outputs.1).into(),
    ];
    for (number, entry) in (1..).zip(entries.clone()) {
        assert_eq!(trail.append(entry).unwrap(), number);
    }
    let records: Vec<Record> =
        trail.show(&call).unwrap().iter().map(|stored| stored.record().unwrap()).collect();
    assert_eq!(records.iter().map(|record| record.entry.clone()).collect::<Vec<_>>(), entries);
    assert!(records.is_sorted_by_key(|record| record.time));
}

#[test]
fn a_closing_record_says_how_it_ended_in_plain_fields() {
    let (_directory, trail) = trail();
    let call = CallId::from("c1");
    trail.append(judged(&call, "echo")).unwrap();
    let output = Output { bytes: 10, truncated: 3 };
    trail.append(Closed::ended(call.clone(), &outcome(), output, output)).unwrap();
    let body = &trail.show(&call).unwrap()[1].body;
    let expected = r#""phase":"closed","call":"c1","kind":"ended","exit_code":137,"signal":"SIGKILL","stopped":"Cancelled by the caller","limit_hit":"LIMIT","duration_us":1500,"cpu_user_us":7,"cpu_system_us":8,"max_rss_kib":9,"stdout":{"bytes":10,"truncated":3},"stderr":{"bytes":10,"truncated":3},"output_cut":true,"ended_after":2,"survivors":[5]}"#;
    let expected = expected.replace("LIMIT", &LimitHit::Memory.to_string());
    assert!(body.ends_with(&expected), "{body}");
}

#[test]
fn secrets_never_reach_the_file() {
    let (_directory, trail) = trail();
    let call = CallId::fresh();
    let mut entry = judged(&call, "tool --password=hunter2secret https://ada:hunter2secret@host");
    entry.verdict.as_mut().unwrap().reason = "tool --password=hunter2secret is denied".into();
    entry.commands[0].ruling.reason = "no rule for API_KEY=hunter2secret".into();
    trail.append(entry).unwrap();
    trail.append(Closed::refused(call.clone(), "tool --password hunter2secret is denied")).unwrap();
    for stored in trail.show(&call).unwrap() {
        assert!(!stored.body.contains("hunter2"), "{}", stored.body);
        assert!(stored.body.contains("[redacted]"), "{}", stored.body);
    }
}

#[test]
fn known_values_are_taken_out_wherever_they_stand() {
    let secrets = runward_audit::redact::Secrets::new(["swordfish"]).unwrap();
    let entry = judged(&CallId::fresh(), "echo swordfish").without(&secrets);
    assert_eq!(entry.command, "echo [redacted]");
    assert_eq!(entry.commands[0].words, ["echo", "[redacted]"]);
}

#[test]
fn a_call_is_opened_once_and_closed_once() {
    let (_directory, trail) = trail();
    let call = CallId::fresh();
    let close = || trail.append(Closed::refused(call.clone(), "no"));
    assert!(matches!(close(), Err(Error::NotOpen(unknown)) if unknown == call));
    assert!(matches!(trail.append(started(&call)), Err(Error::NotOpen(_))));
    trail.append(judged(&call, "echo")).unwrap();
    assert!(matches!(trail.append(judged(&call, "echo")), Err(Error::Write { .. })));
    close().unwrap();
    assert!(matches!(close(), Err(Error::NotOpen(_))));
    assert!(matches!(trail.append(judged(&call, "echo")), Err(Error::Write { .. })));
    assert_eq!(trail.verify().unwrap().records, 2);
}

#[test]
fn several_records_are_written_together_or_not_at_all() {
    let (_directory, trail) = trail();
    let call = CallId::fresh();
    let unknown = Closed { call: CallId::fresh(), closing: Closing::Lost };
    trail.append_all([judged(&call, "echo").into(), unknown.into()]).unwrap_err();
    assert!(trail.show(&call).unwrap().is_empty());
    assert!(trail.verify().unwrap().is_clean());
}

#[test]
fn a_write_that_finds_no_room_is_an_error_and_leaves_the_chain_whole() {
    let (_directory, trail) = trail();
    crate::refuse(&trail, "echo");
    crate::tamper(
        &trail,
        "CREATE TRIGGER full BEFORE INSERT ON record WHEN new.number > 4 BEGIN SELECT raise(FAIL, 'no room'); END",
    );
    crate::refuse(&trail, "echo");
    let call = CallId::fresh();
    let error = trail.append(judged(&call, "echo")).unwrap_err();
    assert!(error.to_string().contains("no room"), "{error}");
    let verification = trail.verify().unwrap();
    assert!(verification.is_clean());
    assert_eq!(verification.records, 4);
}

#[test]
fn a_path_that_is_no_text_is_recorded_as_well_as_can_be() {
    use std::os::unix::ffi::OsStrExt;
    let (_directory, trail) = trail();
    let call = CallId::fresh();
    let mut entry = judged(&call, "echo");
    entry.directory = Some(std::ffi::OsStr::from_bytes(b"/a\xff").into());
    trail.append(entry).unwrap();
    assert!(trail.show(&call).unwrap()[0].body.contains("/a\u{fffd}"));
}
