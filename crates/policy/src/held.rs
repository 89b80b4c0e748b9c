//! A file that stays the same from being judged to being executed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use runward_model::wire::Opened;
use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};

/// Files whose hashes are remembered.
const MOST_KNOWN: usize = 4096;
/// A file that was changed less than this before it was read may change again without its times telling.
const SETTLED: Duration = Duration::from_secs(2);
/// How often a file is read again that changes while it is read.
const ATTEMPTS: usize = 3;
/// How much is read at once.
const PIECE: usize = 1 << 16;

static KNOWN: Mutex<BTreeMap<Identity, String>> = Mutex::new(BTreeMap::new());

/// An open file: what was hashed is what will be executed, whatever the path leads to by then.
#[derive(Debug)]
pub struct Held {
    file: File,
    path: PathBuf,
    identity: Identity,
    hash: Option<String>,
}

/// What changes when a file is written to or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Held {
    /// Opens the file that a path leads to, and hashes it where it may be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        // Neither a pipe nor a terminal must keep anybody waiting.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = match rustix::fs::open(path, flags, Mode::empty()) {
            Err(rustix::io::Errno::ACCESS) => return Held::unread(path),
            opened => File::from(opened?),
        };
        let (identity, hash) = hashed(&file)?;
        Ok(Held { file, path: path.to_owned(), identity, hash: Some(hash) })
    }

    /// A file that may be executed but not read has no hash.
    fn unread(path: &Path) -> io::Result<Self> {
        let file = File::from(rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?);
        let identity = Identity::of(&file)?;
        Ok(Held { file, path: path.to_owned(), identity, hash: None })
    }

    /// Its SHA-256, in lowercase hexadecimal digits; `None` where it may not be read.
    pub fn hash(&self) -> Option<&str> {
        self.hash.as_deref()
    }

    /// The path that led to it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it still reads as it did. A file that was replaced has lost its name and nothing else.
    fn is_unchanged(&self) -> bool {
        let Ok(now) = Identity::of(&self.file) else { return false };
        let reads_the_same = |hash: &str| digest(&self.file, now.size).is_ok_and(|digest| digest == hash);
        now == self.identity || self.hash().is_none_or(reads_the_same)
    }

    /// Whether the system has an interpreter open it once more, by the name of its descriptor.
    fn is_interpreted(&self) -> bool {
        let mut start = [0; 2];
        self.file.read_exact_at(&mut start, 0).is_ok() && start == *b"#!"
    }

    /// The open file, to be executed. What has been written to since it was hashed is not.
    pub fn into_program(self) -> io::Result<(OwnedFd, Opened)> {
        if !self.is_unchanged() {
            return Err(io::Error::other("it was changed after it had been judged; try again"));
        }
        let opened = if self.is_interpreted() { Opened::Stays } else { Opened::Closes };
        Ok((self.file.into(), opened))
    }
}

impl Identity {
    fn of(file: &File) -> io::Result<Self> {
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Identity {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }

    fn has_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed = u64::try_from(self.changed.0.max(self.modified.0)).unwrap_or(0);
        now.saturating_sub(Duration::from_secs(changed)) > SETTLED
    }
}

/// The hash, and what the file was like when it was read. A file that gets or loses a name meanwhile looks changed; it is
/// taken as it is once it reads the same twice.
fn hashed(file: &File) -> io::Result<(Identity, String)> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        let before = Identity::of(file)?;
        if let Some(hash) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(&before) {
            return Ok((before, hash.clone()));
        }
        let hash = digest(file, before.size)?;
        if Identity::of(file)? == before {
            remember(before, &hash);
            return Ok((before, hash));
        }
        if last.replace(hash.clone()).is_some_and(|last| last == hash) {
            return Ok((before, hash));
        }
    }
    Err(io::Error::other("it changes while it is being read"))
}

fn remember(identity: Identity, hash: &str) {
    if !identity.has_settled() {
        return;
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= MOST_KNOWN {
        known.clear();
    }
    known.insert(identity, hash.to_owned());
}

fn digest(file: &File, size: u64) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut piece = vec![0; PIECE];
    let mut at = 0;
    // A file that grows for ever is not read for ever.
    while at <= size {
        match file.read_at(&mut piece, at) {
            Ok(0) => break,
            Ok(count) => {
                hasher.update(piece.get(..count).unwrap_or_default());
                at += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(hasher.finalize().iter().fold(String::new(), |mut hash, byte| {
        let _ = write!(hash, "{byte:02x}");
        hash
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_hash_is_the_one_that_everybody_else_computes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("abc");
        fs::write(&path, "abc").unwrap();
        let held = Held::open(&path).unwrap();
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(held.hash(), Some(known));
        assert!(held.is_unchanged() && !held.is_interpreted());
    }

    #[test]
    fn a_file_that_is_replaced_is_still_the_one_that_was_opened() {
        let directory = tempfile::tempdir().unwrap();
        let (path, other) = (directory.path().join("a"), directory.path().join("b"));
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::write(&other, "other").unwrap();
        let held = Held::open(&path).unwrap();
        fs::rename(&other, &path).unwrap();
        assert!(held.is_interpreted() && held.is_unchanged());
        assert_ne!(held.hash(), Held::open(&path).unwrap().hash());
        assert_eq!(held.into_program().unwrap().1, Opened::Stays);
    }

    #[test]
    fn a_file_that_is_written_to_is_known_to_have_changed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        fs::write(&path, "one").unwrap();
        let held = Held::open(&path).unwrap();
        fs::write(&path, "three").unwrap();
        assert_ne!(held.hash(), Held::open(&path).unwrap().hash());
        assert!(held.into_program().is_err());
    }

    #[test]
    fn a_hash_is_remembered_once_the_file_has_settled() {
        let held = Held::open(Path::new("/bin/sh")).unwrap();
        assert!(KNOWN.lock().unwrap().contains_key(&held.identity));
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new");
        fs::write(&path, "x").unwrap();
        let held = Held::open(&path).unwrap();
        assert!(!KNOWN.lock().unwrap().contains_key(&held.identity));
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        assert!(Held::open(Path::new("/")).is_err());
        assert!(Held::open(Path::new("/dev/null")).is_err());
    }
}
