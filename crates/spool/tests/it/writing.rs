//! What is written is what is read.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use proptest::prelude::*;
use runward_model::Stream;
use runward_spool::{Problem, Record, Settings, Store};

pub(crate) fn settings(directory: &std::path::Path) -> Settings {
    Settings { directory: directory.join("state/output"), quota: 1 << 30, keep: Duration::from_hours(1) }
}

pub(crate) fn all(mut record: Record) -> Vec<u8> {
    let mut bytes = Vec::new();
    record.read_to_end(&mut bytes).unwrap();
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_prints_are_read_back_as_one_plain_vector_cut_at_the_quota(
        prints in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..90_000)), 0..12),
        quota in prop_oneof![Just(u64::MAX), 0u64..300_000],
        looks in prop::collection::vec(any::<bool>(), 12),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(Settings { quota, ..settings(directory.path()) });
        let mut writer = store.open("ab01").unwrap();
        let mut naive: [Vec<u8>; 2] = [Vec::new(), Vec::new()];
        let (mut room, mut total) = (quota, [0u64, 0]);
        for ((is_stderr, bytes), look) in prints.iter().zip(looks) {
            let (stream, index) = if *is_stderr { (Stream::Stderr, 1) } else { (Stream::Stdout, 0) };
            writer.append(stream, bytes);
            total[index] += bytes.len() as u64;
            let kept = room.min(bytes.len() as u64);
            room = if kept < bytes.len() as u64 { 0 } else { room - kept };
            naive[index].extend(&bytes[..usize::try_from(kept).unwrap()]);
            if look {
                prop_assert_eq!(&all(writer.record(stream)), &naive[index]);
            }
        }
        let is_cut = total.iter().sum::<u64>() > quota;
        let (kept, problem) = writer.close();
        prop_assert_eq!(problem, is_cut.then_some(Problem::OverQuota { kept: quota, quota }));
        for (stream, index) in [(Stream::Stdout, 0), (Stream::Stderr, 1)] {
            let record = kept.record(stream).unwrap();
            prop_assert_eq!(record.length() + record.missing(), total[index]);
            prop_assert_eq!(&all(record), &naive[index]);
        }
    }
}

#[test]
fn nothing_is_made_before_it_is_needed_and_then_for_the_owner_alone() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(settings(directory.path()));
    assert!(!directory.path().join("state").exists());
    let mut writer = store.open("ab01").unwrap();
    writer.append(Stream::Stdout, b"secret");
    drop(writer.record(Stream::Stdout));
    let output = directory.path().join("state/output");
    for (path, mode) in [("", 0o700), ("ab01", 0o700), ("ab01/stdout", 0o600)] {
        assert_eq!(output.join(path).metadata().unwrap().permissions().mode() & 0o777, mode, "{path}");
    }
    assert!(!output.join("ab01/stderr").exists());
}

#[test]
fn a_directory_that_cannot_be_used_is_a_problem_with_a_reason() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("state"), "in the way").unwrap();
    let problem = Store::new(settings(directory.path())).open("ab01").unwrap_err();
    assert!(problem.to_string().contains("output directory cannot be used"), "{problem}");
}

#[test]
fn a_file_that_cannot_be_written_is_said_and_what_was_written_stays() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(settings(directory.path()));
    let mut writer = store.open("ab01").unwrap();
    writer.append(Stream::Stderr, b"kept");
    assert_eq!(all(writer.record(Stream::Stderr)), b"kept");
    std::fs::write(directory.path().join("state/output/ab01/stdout"), "in the way").unwrap();
    writer.append(Stream::Stdout, b"lost");
    let (kept, problem) = writer.close();
    assert!(problem.is_some(), "the file could not be made");
    assert_eq!(all(kept.record(Stream::Stderr).unwrap()), b"kept");
    assert_eq!(kept.record(Stream::Stdout).unwrap().missing(), 4);
}

#[test]
fn the_systems_word_for_a_full_disk_is_understood() {
    let error = std::io::Error::from(rustix::io::Errno::NOSPC);
    assert_eq!(Problem::from(error), Problem::DiskFull);
}
