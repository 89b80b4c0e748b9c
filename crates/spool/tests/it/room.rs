//! Old spools make room for new ones.

use std::time::{Duration, SystemTime};

use runward_model::Stream;
use runward_spool::{Problem, Settings, Store};

use crate::writing::settings;

fn spool(store: &Store, name: &str, bytes: usize) -> runward_spool::Kept {
    let mut writer = store.open(name).unwrap();
    writer.append(Stream::Stdout, &vec![b'x'; bytes]);
    writer.close().0
}

fn make_older(store: &Store, name: &str, by: Duration) {
    let path = store.settings().directory.join(name).join("stdout");
    let file = std::fs::File::options().append(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - by).unwrap();
}

#[test]
fn what_is_too_old_is_removed_with_the_next_write() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(settings(directory.path()));
    let old = spool(&store, "a1", 10);
    let young = spool(&store, "a2", 10);
    make_older(&store, "a1", Duration::from_hours(2));
    spool(&store, "a3", 10);
    assert!(old.record(Stream::Stdout).is_err());
    assert_eq!(young.record(Stream::Stdout).unwrap().length(), 10);
}

#[test]
fn the_oldest_go_when_the_quota_is_used_up() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(Settings { quota: 250, ..settings(directory.path()) });
    let (first, second) = (spool(&store, "a1", 100), spool(&store, "a2", 100));
    make_older(&store, "a1", Duration::from_secs(20));
    make_older(&store, "a2", Duration::from_secs(10));
    let third = spool(&store, "a3", 100);
    assert!(first.record(Stream::Stdout).is_err());
    assert!(second.record(Stream::Stdout).is_ok() && third.record(Stream::Stdout).is_ok());
}

#[test]
fn what_is_being_written_is_never_removed_and_a_full_quota_is_a_problem() {
    let directory = tempfile::tempdir().unwrap();
    let quota = Settings { quota: 150, ..settings(directory.path()) };
    let mut writer = Store::new(quota.clone()).open("a1").unwrap();
    writer.append(Stream::Stdout, &[b'x'; 100]);
    assert_eq!(writer.record(Stream::Stdout).length(), 100);
    make_older(&Store::new(quota.clone()), "a1", Duration::from_hours(9));
    let mut other = Store::new(quota).open("a2").unwrap();
    other.append(Stream::Stdout, &[b'x'; 100]);
    assert_eq!(other.close().1, Some(Problem::OverQuota { kept: 50, quota: 150 }));
    assert!(writer.close().0.record(Stream::Stdout).is_ok());
}

#[test]
fn a_running_output_may_use_up_the_quota_and_makes_room_once_it_is_closed() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(Settings { quota: 1000, ..settings(directory.path()) });
    let before = spool(&store, "a1", 400);
    let mut flood = store.open("a2").unwrap();
    (0..30).for_each(|_| flood.append(Stream::Stdout, &[b'x'; 100]));
    assert!(before.record(Stream::Stdout).is_err(), "the older one made room");
    let beside = spool(&store, "a3", 10).record(Stream::Stdout).unwrap();
    assert_eq!((beside.length(), beside.missing()), (0, 10), "there is no room beside it");
    let (flood, problem) = flood.close();
    assert_eq!(problem, Some(Problem::OverQuota { kept: 1000, quota: 1000 }));
    let record = flood.record(Stream::Stdout).unwrap();
    assert_eq!((record.length(), record.missing()), (1000, 2000));
    let after = spool(&store, "a4", 10).record(Stream::Stdout).unwrap();
    assert_eq!((after.length(), after.missing()), (10, 0));
    assert!(flood.record(Stream::Stdout).is_err());
}

#[test]
fn what_is_not_a_spool_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(Settings { quota: 1, keep: Duration::ZERO, ..settings(directory.path()) });
    let foreign = store.settings().directory.join("precious");
    std::fs::create_dir_all(&foreign).unwrap();
    std::fs::write(foreign.join("stdout"), "mine").unwrap();
    spool(&store, "a1", 10);
    spool(&store, "a2", 10);
    assert!(foreign.join("stdout").exists());
}
