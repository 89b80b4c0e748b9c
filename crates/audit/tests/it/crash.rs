//! Many writers, and writers that die.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use runward_audit::{Entry, Trail};

use crate::{refuse, scribe, trail};

#[test]
fn processes_that_start_and_write_at_once_keep_one_chain() {
    let (_directory, trail) = trail();
    let scribes: Vec<_> = (0..4).map(|_| scribe::start(trail.path(), 49)).collect();
    let mut numbers: Vec<u64> = Vec::new();
    for (mut child, lines) in scribes {
        drop(child.stdin.take());
        numbers.extend(scribe::acknowledged(lines).map(|(number, _)| number));
        assert!(child.wait().unwrap().success());
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=400).collect::<Vec<u64>>());
    let verification = trail.verify().unwrap();
    assert_eq!(verification.faults, []);
    assert_eq!(verification.records, 400);
}

#[test]
fn threads_with_files_of_their_own_keep_one_chain() {
    let (_directory, trail) = trail();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let own = Trail::at(trail.path());
                (0..50).for_each(|_| drop(refuse(&own, "echo")));
            });
        }
    });
    let verification = trail.verify().unwrap();
    assert_eq!(verification.faults, []);
    assert_eq!(verification.records, 400);
}

#[test]
fn a_kill_during_writes_loses_nothing_acknowledged_and_breaks_nothing() {
    let (_directory, trail) = trail();
    let mut known = HashSet::new();
    for _ in 0..8 {
        known.extend(killed_scribe(trail.path(), 1 + random_below(200)));
        let verification = trail.verify().unwrap();
        assert_eq!(verification.faults, []);
        assert!(known.iter().all(|(number, _)| *number <= verification.records));
    }
    for (number, call) in known {
        let records = trail.show(&call.as_str().into()).unwrap();
        assert!(records.iter().any(|stored| stored.number == number), "record {number} of {call}");
    }
    closed_once_and_for_all(&trail);
}

/// What a process acknowledged that was killed once it had acknowledged at least so many.
fn killed_scribe(path: &Path, enough: usize) -> Vec<(u64, String)> {
    let (mut child, lines) = scribe::start(path, usize::MAX);
    let mut lines = scribe::acknowledged(lines);
    let mut known: Vec<_> = lines.by_ref().take(enough).collect();
    child.kill().unwrap();
    known.extend(lines);
    child.wait().unwrap();
    assert!(known.len() >= enough);
    known
}

/// Whatever the killed left open is lost, and then nothing is open.
fn closed_once_and_for_all(trail: &Trail) {
    trail.close_lost().unwrap();
    assert_eq!(trail.close_lost().unwrap(), []);
    let calls = trail.query(runward_audit::Filter::default(), runward_audit::Order::OldestFirst);
    for call in calls {
        let call = call.unwrap();
        let records = trail.show(&call.judged.call).unwrap();
        let last = records.last().unwrap().record().unwrap();
        assert!(matches!(last.entry, Entry::Closed(_)), "{last:?}");
    }
    assert!(trail.verify().unwrap().is_clean());
}

fn random_below(bound: u64) -> usize {
    usize::try_from(RandomState::new().hash_one(0) % bound).unwrap()
}
