//! A directory that nobody else can have prepared.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

/// The bits of a mode that let others in.
const OPEN_TO_OTHERS: u32 = 0o077;

/// Makes the directory where it is not there.
pub(crate) fn make(directory: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Whether it is a directory, no link to one, that belongs to this user and is open to no other.
pub(crate) fn is_private(directory: &Path, owner: u32) -> bool {
    let found = fs::symlink_metadata(directory);
    found.is_ok_and(|found| found.is_dir() && found.uid() == owner && found.mode() & OPEN_TO_OTHERS == 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::{Error, Trail, Verification};

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
        assert!(is_private(&directory, user));
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
        make(&directory).unwrap();
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
}
