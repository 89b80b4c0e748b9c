//! A directory that nobody else can have prepared.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

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
    found.is_ok_and(|found| found.is_dir() && found.uid() == owner && found.mode() & 0o077 == 0)
}
