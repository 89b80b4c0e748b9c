//! What is remembered of every call.

use std::sync::Arc;

use runward_audit::{Closing, Filter, Order, Trail};
use runward_engine::Settings;
use runward_model::Refusal;
use runward_policy::{Allowlist, Policy};

use crate::setup::*;

fn recorded(trail: &Arc<Trail>) -> Settings {
    Settings { trail: Some(trail.clone()), ..settings() }
}

fn closings(trail: &Trail) -> Vec<Closing> {
    let calls = trail.query(Filter::default(), Order::OldestFirst);
    calls.map(|call| call.unwrap().closed.unwrap().closing).collect()
}

#[test]
fn a_run_is_opened_before_it_starts_and_closed_with_its_outcome() {
    let directory = tempfile::tempdir().unwrap();
    let trail = Arc::new(Trail::at(directory.path().join("audit.db")));
    block_on(recorded(&trail), async |engine| {
        run(engine, ask(&["print", "hello", "exit", "3"])).await;
    });
    let [Closing::Ended(ended)] = &closings(&trail)[..] else { panic!("not one ended call") };
    assert_eq!((ended.exit_code, ended.stdout.bytes), (3, 5));
    assert!(trail.verify().unwrap().is_clean());
}

#[test]
fn a_refusal_is_recorded_with_its_reason() {
    let directory = tempfile::tempdir().unwrap();
    let trail = Arc::new(Trail::at(directory.path().join("audit.db")));
    let path = settings().policy.current().path().clone();
    let strict = Settings { policy: Policy::new(Allowlist::parse("ls"), path).into(), ..recorded(&trail) };
    block_on(strict, async |engine| {
        start(engine, line("whoami")).await.unwrap_err();
    });
    let [Closing::Refused { reason }] = &closings(&trail)[..] else { panic!("not one refused call") };
    assert!(reason.starts_with("command \"whoami\" is not allowed"), "{reason}");
}

#[test]
fn what_cannot_be_recorded_does_not_run() {
    let directory = tempfile::tempdir().unwrap();
    let marker = directory.path().join("ran");
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let trail = Arc::new(Trail::at(file.join("audit.db")));
    block_on(recorded(&trail), async |engine| {
        let refusal = start(engine, line(&format!("touch {}", marker.display()))).await.unwrap_err();
        assert!(matches!(refusal, Refusal::Unrecorded(_)), "{refusal}");
    });
    assert!(!marker.exists());
}
