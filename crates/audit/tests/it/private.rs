//! A directory that somebody else could have prepared is no place for a trail.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use runward_audit::{Error, Trail, Verification};
use runward_files::private::{self, Others};

/// A place for a directory, and who we are there.
fn place() -> (tempfile::TempDir, u32) {
    let place = tempfile::tempdir().unwrap();
    let user = fs::metadata(place.path()).unwrap().uid();
    (place, user)
}

#[test]
fn a_private_directory_is_made_when_it_is_first_written_to() {
    let (place, user) = place();
    let directory = place.path().join("runward");
    let trail = Trail::at(directory.join("audit.db")).in_private_directory_of(user);
    assert_eq!(trail.verify().unwrap(), Verification::default());
    assert!(!directory.exists());
    assert_eq!(trail.append_all([]).unwrap(), 0);
    assert!(private::is_directory_of(&directory, user, Others::Nothing));
    assert!(trail.verify().unwrap().is_clean());
}

#[track_caller]
fn refused(directory: &Path, user: u32) {
    let trail = Trail::at(directory.join("audit.db")).in_private_directory_of(user);
    assert!(matches!(trail.append_all([]), Err(Error::NotPrivate(path)) if path == directory));
    assert!(!directory.join("audit.db").exists());
}

#[test]
fn a_directory_that_another_may_have_prepared_is_refused() {
    let (place, user) = place();
    let directory = place.path().join("runward");
    private::make(&directory).unwrap();
    refused(&directory, user + 1);
    let link = place.path().join("link");
    symlink(&directory, &link).unwrap();
    refused(&link, user);
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o750)).unwrap();
    refused(&directory, user);
}

#[test]
fn what_another_may_have_written_is_not_read() {
    let (place, user) = place();
    let path = place.path().join("runward/audit.db");
    Trail::at(&path).in_private_directory_of(user).append_all([]).unwrap();
    let read = Trail::at(&path).in_private_directory_of(user + 1).verify();
    assert!(matches!(read, Err(Error::NotPrivate(_))), "{read:?}");
}
