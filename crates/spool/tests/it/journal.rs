//! Numbered events on disk.

use proptest::prelude::*;
use runward_model::Stream;
use runward_spool::{Journal, Problem, Settings, Store};

use crate::writing::settings;

type Printed = (Stream, Vec<u8>);

/// Everything from an event on, read one after the other.
fn from(journal: &Journal, event: u64) -> Vec<Printed> {
    let mut place = journal.find(event).unwrap();
    let mut read = Vec::new();
    while let Some((stream, data, behind)) = journal.read(place).unwrap() {
        read.push((stream, data));
        place = behind;
    }
    read
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_prints_are_read_back_in_order_from_any_point(
        prints in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 1..40)), 0..700),
        point in any::<prop::sample::Index>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::begin(&Store::new(settings(directory.path())), "ab01");
        let stream = |is_stderr| if is_stderr { Stream::Stderr } else { Stream::Stdout };
        let naive: Vec<Printed> = prints.into_iter().map(|(is_stderr, data)| (stream(is_stderr), data)).collect();
        for (stream, data) in &naive {
            prop_assert!(journal.append(*stream, data));
        }
        let point = point.index(naive.len() + 1);
        prop_assert_eq!(&from(&journal, point as u64), &naive[point..]);
        prop_assert_eq!(from(&journal, naive.len() as u64 + 9), Vec::new());
    }
}

#[test]
fn a_reader_at_the_end_reads_on_when_more_comes() {
    let directory = tempfile::tempdir().unwrap();
    let mut journal = Journal::begin(&Store::new(settings(directory.path())), "ab01");
    let end = journal.find(5).unwrap();
    assert_eq!(journal.read(end).unwrap(), None);
    journal.append(Stream::Stderr, b"late");
    let (stream, data, _) = journal.read(end).unwrap().unwrap();
    assert_eq!((stream, data.as_slice()), (Stream::Stderr, b"late".as_slice()));
}

#[test]
fn beyond_the_quota_everything_is_counted() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(Settings { quota: 60, ..settings(directory.path()) });
    let mut journal = Journal::begin(&store, "ab01");
    assert!(journal.append(Stream::Stdout, &[b'x'; 40]));
    assert!(!journal.append(Stream::Stdout, &[b'x'; 40]));
    assert!(!journal.append(Stream::Stderr, b"small"));
    assert_eq!(
        (journal.events(), journal.dropped(Stream::Stdout), journal.dropped(Stream::Stderr)),
        (1, 40, 5)
    );
    assert_eq!(journal.problem(), Some(&Problem::OverQuota { kept: 45, quota: 60 }));
}

#[test]
fn a_journal_makes_room_for_others_once_it_is_closed() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(Settings { quota: 100, ..settings(directory.path()) });
    let mut first = Journal::begin(&store, "ab01");
    assert!(first.append(Stream::Stdout, &[b'x'; 60]));
    assert!(!Journal::begin(&store, "ab02").append(Stream::Stdout, &[b'x'; 60]));
    first.close();
    assert_eq!(from(&first, 0), [(Stream::Stdout, vec![b'x'; 60])]);
    assert!(Journal::begin(&store, "ab03").append(Stream::Stdout, &[b'x'; 60]));
    assert!(first.read(first.find(0).unwrap()).is_err(), "it made room");
}
