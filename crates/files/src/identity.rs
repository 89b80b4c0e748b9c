//! Which file something is, and whether it was written to since.

use std::fs::Metadata;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::Stat;

/// What tells a file, a directory or a pipe from all others for as long as it is there: device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// What a path leads to.
    pub fn of(path: &Path) -> io::Result<Self> {
        std::fs::metadata(path).map(|found| FileId::from(&found))
    }

    /// What is open. Takes no memory, so it may be asked between a fork and an exec.
    pub fn of_open(file: impl AsFd) -> io::Result<Self> {
        Ok(FileId::from(&rustix::fs::fstat(file)?))
    }
}

impl From<&Metadata> for FileId {
    fn from(found: &Metadata) -> Self {
        FileId { device: found.dev(), inode: found.ino() }
    }
}

impl From<&Stat> for FileId {
    fn from(found: &Stat) -> Self {
        #[expect(clippy::useless_conversion, reason = "the fields have other types on other machines")]
        FileId { device: found.st_dev.into(), inode: found.st_ino.into() }
    }
}

/// A file as it was: what changes when it is written to or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Which file.
    pub file: FileId,
    /// In bytes.
    pub size: u64,
    /// When its content changed last: seconds since 1970, and nanoseconds.
    pub modified: (i64, i64),
    /// When anything about it changed last, its names among it.
    pub changed: (i64, i64),
}

impl Stamp {
    /// Of what a path leads to.
    pub fn of(path: &Path) -> io::Result<Self> {
        std::fs::metadata(path).map(|found| Stamp::from(&found))
    }

    /// Whether it is the same file with the same content, whatever it is called by now.
    pub fn has_content_of(&self, other: &Stamp) -> bool {
        let content = |stamp: &Stamp| (stamp.file, stamp.size, stamp.modified);
        content(self) == content(other)
    }

    /// Whether another change would show: two within a grain of the file system's clock may leave the same times.
    pub fn has_settled(&self, grain: Duration) -> bool {
        let (seconds, nanoseconds) = self.modified.max(self.changed);
        let seconds = u64::try_from(seconds).unwrap_or_default();
        let changed = Duration::new(seconds, u32::try_from(nanoseconds).unwrap_or_default());
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        changed.saturating_add(grain) < now
    }
}

impl From<&Metadata> for Stamp {
    fn from(found: &Metadata) -> Self {
        Stamp {
            file: FileId::from(found),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

impl From<&Stat> for Stamp {
    fn from(found: &Stat) -> Self {
        #[expect(clippy::useless_conversion, reason = "the fields have other types on other machines")]
        let (modified, changed) = (found.st_mtime.into(), found.st_ctime.into());
        Stamp {
            file: FileId::from(found),
            size: u64::try_from(found.st_size).unwrap_or_default(),
            modified: (modified, i64::try_from(found.st_mtime_nsec).unwrap_or_default()),
            changed: (changed, i64::try_from(found.st_ctime_nsec).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn a_file_is_the_same_under_another_name_and_another_one_is_not() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at("a"), "one").unwrap();
        let (open, before) = (File::open(at("a")).unwrap(), Stamp::of(&at("a")).unwrap());
        fs::rename(at("a"), at("b")).unwrap();
        fs::write(at("a"), "one").unwrap();
        assert_eq!(FileId::of_open(&open).unwrap(), FileId::of(&at("b")).unwrap());
        assert_ne!(FileId::of_open(&open).unwrap(), FileId::of(&at("a")).unwrap());
        assert!(Stamp::of(&at("b")).unwrap().has_content_of(&before));
        assert!(!Stamp::of(&at("a")).unwrap().has_content_of(&before));
    }

    #[test]
    fn both_ways_to_look_at_a_file_see_the_same() {
        let path = Path::new("/bin/sh");
        let (stat, found) = (rustix::fs::stat(path).unwrap(), fs::metadata(path).unwrap());
        assert_eq!(Stamp::from(&stat), Stamp::from(&found));
        assert!(Stamp::from(&stat).has_settled(Duration::from_secs(2)));
    }

    #[test]
    fn a_file_that_was_just_written_has_not_settled() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(!Stamp::of(file.path()).unwrap().has_settled(Duration::from_hours(1)));
    }
}
