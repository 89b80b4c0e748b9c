//! Replacing a file as a whole: whoever reads it finds the old one or the new one, and never a part.

use std::ffi::OsString;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::random;

/// Writes a new file beside `path`, makes sure that it is on the disk, and puts it there under that name. Nobody but its
/// owner can read it before it has its mode.
pub fn replace(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let draft = draft_of(path);
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        file.write_all(content)?;
        file.set_permissions(Permissions::from_mode(mode))?;
        file.sync_all()?;
        fs::rename(&draft, path)
    };
    let written = write();
    if written.is_err() {
        // Not there where it could not even be made.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// A name beside `path` for what will stand there once it is whole. Nobody else has it.
pub fn draft_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{}.new", random::name::<8>()));
    name.into()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use super::*;

    fn names(directory: &Path) -> usize {
        fs::read_dir(directory).unwrap().count()
    }

    #[test]
    fn a_file_is_replaced_with_its_mode_and_nothing_stays_beside_it() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a");
        fs::write(&path, "old").unwrap();
        replace(&path, b"new", 0o640).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
        assert_eq!(names(place.path()), 1);
    }

    #[test]
    fn what_cannot_be_replaced_stays_and_the_draft_goes() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("a");
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("inside"), "").unwrap();
        assert!(replace(&directory, b"new", 0o600).is_err());
        assert_eq!(names(place.path()), 1);
    }

    #[test]
    fn a_link_is_replaced_and_what_it_leads_to_stays() {
        let place = tempfile::tempdir().unwrap();
        let (file, link) = (place.path().join("file"), place.path().join("link"));
        fs::write(&file, "theirs").unwrap();
        symlink(&file, &link).unwrap();
        replace(&link, b"ours", 0o600).unwrap();
        assert_eq!(
            (fs::read(&file).unwrap(), fs::read(&link).unwrap()),
            (b"theirs".to_vec(), b"ours".to_vec())
        );
    }
}
