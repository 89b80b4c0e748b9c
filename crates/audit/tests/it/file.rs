//! The file itself.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use runward_audit::{CallId, Error, Filter, Order, Trail};

use crate::{judged, refuse, tamper, trail};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn nothing_is_made_before_the_first_record() {
    let (directory, trail) = trail();
    assert_eq!(trail.close_lost().unwrap(), []);
    assert_eq!(trail.query(Filter::default(), Order::default()).count(), 0);
    assert_eq!(trail.export(Filter::default(), &mut Vec::new(), |error| panic!("{error}")).unwrap(), 0);
    assert!(trail.show(&CallId::fresh()).unwrap().is_empty());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn only_the_owner_can_read_the_trail_and_its_directory() {
    let (directory, trail) = trail();
    refuse(&trail, "echo");
    let state = directory.path().join("state");
    assert_eq!(mode(&state), 0o700);
    let files: Vec<_> = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 1, "the write-ahead log is there: {files:?}");
    assert!(files.iter().all(|file| mode(file) == 0o600), "{files:?}");
}

#[test]
fn no_draft_stays_behind() {
    let (directory, trail) = trail();
    refuse(&trail, "echo");
    drop(trail);
    let names = fs::read_dir(directory.path().join("state")).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["audit.db"]);
}

#[test]
fn a_directory_that_cannot_be_made_is_a_clear_error() {
    let trail = Trail::at("/proc/nowhere/audit.db");
    let error = trail.append(judged(&CallId::fresh(), "echo")).unwrap_err();
    assert!(matches!(error, Error::Create { .. }));
    let text = error.to_string();
    assert!(text.starts_with("cannot create the audit trail /proc/nowhere/audit.db: "), "{text}");
    assert!(text.ends_with("make its directory writable or choose another path"), "{text}");
}

#[test]
fn a_directory_that_may_not_be_written_to_is_a_clear_error() {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(directory.path().join("probe"), "").is_ok() {
        eprintln!("skipped: this user may write to a directory of mode 0500");
        return;
    }
    let trail = Trail::at(directory.path().join("audit.db"));
    let error = trail.append(judged(&CallId::fresh(), "echo")).unwrap_err();
    assert!(error.to_string().contains("Permission denied"), "{error}");
}

#[test]
fn a_file_of_a_later_format_is_refused_and_left_alone() {
    let (_directory, trail) = trail();
    refuse(&trail, "echo");
    tamper(&trail, "PRAGMA user_version = 3");
    let later = Trail::at(trail.path());
    let error = later.append(judged(&CallId::fresh(), "echo")).unwrap_err();
    assert!(matches!(error, Error::Newer { found: 3, known: 2, .. }), "{error}");
    assert!(later.verify().is_err());
}

#[test]
fn a_file_that_is_something_else_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    for content in ["", "this is a letter, and it goes on for some time so that it is no small file"] {
        let path = directory.path().join("letter");
        fs::write(&path, content).unwrap();
        let error = Trail::at(&path).append(judged(&CallId::fresh(), "echo")).unwrap_err();
        assert!(matches!(error, Error::Foreign(_)), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
}

#[test]
fn a_file_that_is_removed_while_in_use_is_an_error_and_not_a_silent_loss() {
    let (_directory, trail) = trail();
    refuse(&trail, "echo");
    fs::remove_file(trail.path()).unwrap();
    let error = trail.append(judged(&CallId::fresh(), "echo")).unwrap_err();
    assert!(matches!(error, Error::Replaced(_)), "{error}");
}

#[test]
fn records_cannot_be_changed_or_removed_by_accident() {
    let (_directory, trail) = trail();
    refuse(&trail, "echo");
    let connection = rusqlite::Connection::open(trail.path()).unwrap();
    for sql in ["UPDATE record SET body = '{}'", "DELETE FROM record"] {
        let error = connection.execute_batch(sql).unwrap_err().to_string();
        assert!(error.contains("the audit trail is append-only"), "{error}");
    }
}

#[test]
fn several_trails_in_one_process_share_a_file() {
    let (_directory, one) = trail();
    let other = Trail::at(one.path());
    refuse(&one, "echo 1");
    refuse(&other, "echo 2");
    refuse(&one, "echo 3");
    let verification = other.verify().unwrap();
    assert!(verification.is_clean());
    assert_eq!(verification.records, 6);
}
