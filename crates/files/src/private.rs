//! Directories and files that are this user's alone.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;

/// What a mode may let other users do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// Not even look.
    Nothing,
    /// Look, and change nothing.
    Read,
}

impl Others {
    /// The bits of a mode that let them do more.
    const fn forbidden(self) -> u32 {
        match self {
            Others::Nothing => 0o077,
            Others::Read => 0o022,
        }
    }

    /// Whether a mode lets them do no more than this.
    pub fn do_no_more(self, mode: u32) -> bool {
        mode & self.forbidden() == 0
    }
}

/// The user whose rights this process has.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Makes a directory, and those above it, where it is not there: for this user alone. One that is there already stays
/// as it is, so whoever keeps something secret in it asks [`belongs_to`] too.
pub fn make(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Makes a directory for this user alone, which must not be there.
pub fn make_new(directory: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(directory)
}

/// Whether something belongs to a user, and lets others do no more than this.
pub fn belongs_to(found: &Metadata, owner: u32, others: Others) -> bool {
    found.uid() == owner && others.do_no_more(found.mode())
}

/// Whether it is a directory, no link to one, that belongs to a user and lets others do no more than this.
pub fn is_directory_of(directory: &Path, owner: u32, others: Others) -> bool {
    let found = fs::symlink_metadata(directory);
    found.is_ok_and(|found| found.is_dir() && belongs_to(&found, owner, others))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_directory_is_made_for_its_owner_alone_with_those_above_it() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("a/b");
        make(&directory).unwrap();
        for made in [&directory, directory.parent().unwrap()] {
            assert!(is_directory_of(made, user(), Others::Nothing));
        }
        set_mode(&directory, 0o755);
        make(&directory).unwrap();
        assert!(!is_directory_of(&directory, user(), Others::Nothing), "it stays as it is");
        assert!(make_new(&directory).is_err());
    }

    #[test]
    fn a_directory_that_another_may_have_prepared_is_not_ours() {
        let place = tempfile::tempdir().unwrap();
        let (directory, link, file) =
            (place.path().join("own"), place.path().join("link"), place.path().join("file"));
        make_new(&directory).unwrap();
        symlink(&directory, &link).unwrap();
        fs::write(&file, "").unwrap();
        set_mode(&file, 0o600);
        let is_ours = |path: &Path, others| is_directory_of(path, user(), others);
        assert!(
            is_ours(&directory, Others::Nothing) && !is_directory_of(&directory, user() + 1, Others::Read)
        );
        assert!(!is_ours(&link, Others::Read) && !is_ours(&file, Others::Read));
        set_mode(&directory, 0o750);
        assert!(!is_ours(&directory, Others::Nothing) && is_ours(&directory, Others::Read));
        set_mode(&directory, 0o770);
        assert!(!is_ours(&directory, Others::Read));
    }
}
