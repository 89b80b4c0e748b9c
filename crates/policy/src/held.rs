//! A file that stays the same from being judged to being executed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use runward_files::{FileId, Stamp};
use runward_model::wire::Opened;
use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};

/// Files whose hashes are remembered.
const MOST_KNOWN: usize = 4096;
/// A file that was changed less than this before it was read may change again without its times telling.
const SETTLED: Duration = Duration::from_secs(2);
/// How often a file is read again that changes while it is read.
const ATTEMPTS: usize = 3;
/// Where a program says for which machine it is.
const MACHINE: std::ops::Range<usize> = 18..20;
/// How much is read at once.
const PIECE: usize = 1 << 16;

static KNOWN: Mutex<BTreeMap<Stamp, String>> = Mutex::new(BTreeMap::new());

/// An open file: what was judged is what will be executed, whatever the path leads to by then.
#[derive(Debug)]
pub struct Held {
    file: File,
    path: PathBuf,
    place: (PathBuf, OsString),
    real: PathBuf,
    readable: bool,
    stamp: Stamp,
    hash: Option<String>,
}

/// How a file that is held is executed.
#[derive(Debug)]
pub enum Execute {
    /// By its descriptor.
    Opened(OwnedFd, Opened),
    /// By the path that led to it, which still did a moment ago: an interpreter opens it once more, and by the name of a
    /// descriptor a script would not find what lies beside it.
    ByPath,
}

impl Held {
    /// Opens the file that a path leads to.
    pub fn open(path: &Path) -> io::Result<Self> {
        let lacks = || io::Error::new(io::ErrorKind::InvalidInput, "no file can be at this path");
        let (directory, name) = path.parent().zip(path.file_name()).ok_or_else(lacks)?;
        // What is judged is where these two lie, not what the path leads to by then.
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(directory, flags, Mode::empty())?;
        // Neither a pipe nor a terminal must keep anybody waiting.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let (file, readable) = match rustix::fs::openat(&directory, name, flags, Mode::empty()) {
            Err(rustix::io::Errno::ACCESS) => {
                let flags = OFlags::PATH | OFlags::CLOEXEC;
                (rustix::fs::openat(&directory, name, flags, Mode::empty())?, false)
            }
            opened => (opened?, true),
        };
        let (place, real) = ((path_of(&directory)?, name.to_owned()), path_of(&file)?);
        let file = File::from(file);
        let stamp = stamp(&file)?;
        Ok(Held { file, path: path.to_owned(), place, real, readable, stamp, hash: None })
    }

    /// The same file, hashed where it may be read.
    pub fn hashed(self) -> io::Result<Self> {
        if !self.readable {
            return Ok(self);
        }
        let (stamp, hash) = hashed(&self.file)?;
        Ok(Held { stamp, hash: Some(hash), ..self })
    }

    /// Its SHA-256, in lowercase hexadecimal digits; `None` where it may not be read.
    pub fn hash(&self) -> Option<&str> {
        self.hash.as_deref()
    }

    /// The path that led to it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory that it was found in, links resolved, and its name there.
    pub(crate) fn place(&self) -> &(PathBuf, OsString) {
        &self.place
    }

    /// Where the file itself lies.
    pub(crate) fn real(&self) -> &Path {
        &self.real
    }

    /// Whether its path still leads to it.
    fn is_in_place(&self) -> bool {
        FileId::of(&self.path).is_ok_and(|found| found == self.stamp.file)
    }

    /// Whether it still reads as it did. A file that was replaced has lost its name and nothing else.
    fn is_unchanged(&self) -> bool {
        let Ok(now) = stamp(&self.file) else { return false };
        let reads_the_same = |hash: &str| digest(&self.file, now.size).is_ok_and(|digest| digest == hash);
        now == self.stamp || self.hash().is_none_or(reads_the_same)
    }

    /// Whether its first bytes are these.
    fn begins(&self, begin: &[u8]) -> bool {
        let mut start = [0; MACHINE.end];
        let read = self.file.read_at(&mut start, 0).unwrap_or_default();
        start.get(..read).is_some_and(|start| start.starts_with(begin))
    }

    /// Whether the system itself loads it. What it has an interpreter open once more is not.
    fn is_native(&self) -> bool {
        let (mut own, mut start) = ([0; MACHINE.end], [0; MACHINE.end]);
        let own_file = File::open("/proc/self/exe").and_then(|file| file.read_exact_at(&mut own, 0));
        let read = own_file.and_then(|()| self.file.read_exact_at(&mut start, 0));
        read.is_ok() && start.starts_with(b"\x7fELF") && start.get(MACHINE) == own.get(MACHINE)
    }

    /// How it is to be executed. What has been written to since it was hashed is not, nor what was replaced where it has
    /// to be found by its path.
    pub fn into_program(self) -> io::Result<Execute> {
        let changed = || Err(io::Error::other("it was changed after it had been judged; try again"));
        if self.hash.is_some() {
            let opened = if self.begins(b"#!") { Opened::Stays } else { Opened::Closes };
            return if self.is_unchanged() {
                Ok(Execute::Opened(self.file.into(), opened))
            } else {
                changed()
            };
        }
        // A script that cannot be read has no interpreter that could.
        if self.is_native() || !self.readable {
            return Ok(Execute::Opened(self.file.into(), Opened::Closes));
        }
        if self.is_in_place() { Ok(Execute::ByPath) } else { changed() }
    }
}

/// Where an open file lies, as the system knows it.
fn path_of(file: &OwnedFd) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// What a regular file is like now.
pub(crate) fn stamp(file: &File) -> io::Result<Stamp> {
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(Stamp::from(&found))
}

/// The hash, and what the file was like when it was read. A file that gets or loses a name meanwhile looks changed; it is
/// taken as it is once it reads the same twice.
pub(crate) fn hashed(file: &File) -> io::Result<(Stamp, String)> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        let before = stamp(file)?;
        if let Some(hash) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(&before) {
            return Ok((before, hash.clone()));
        }
        let hash = digest(file, before.size)?;
        if stamp(file)? == before {
            remember(before, &hash);
            return Ok((before, hash));
        }
        if last.replace(hash.clone()).is_some_and(|last| last == hash) {
            return Ok((before, hash));
        }
    }
    Err(io::Error::other("it changes while it is being read"))
}

fn remember(stamp: Stamp, hash: &str) {
    if !stamp.has_settled(SETTLED) {
        return;
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= MOST_KNOWN {
        known.clear();
    }
    known.insert(stamp, hash.to_owned());
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
        let held = Held::open(&path).unwrap().hashed().unwrap();
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(held.hash(), Some(known));
        assert!(held.is_unchanged() && !held.begins(b"#!"));
    }

    #[test]
    fn a_file_that_is_replaced_is_still_the_one_that_was_opened() {
        let directory = tempfile::tempdir().unwrap();
        let (path, other) = (directory.path().join("a"), directory.path().join("b"));
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::write(&other, "other").unwrap();
        let held = || Held::open(&path).unwrap();
        let (hashed, known) = (held().hashed().unwrap(), held());
        fs::rename(&other, &path).unwrap();
        assert!(hashed.begins(b"#!") && hashed.is_unchanged());
        assert_ne!(hashed.hash(), held().hashed().unwrap().hash());
        assert!(matches!(hashed.into_program(), Ok(Execute::Opened(_, Opened::Stays))));
        assert!(known.into_program().is_err(), "its interpreter would read another file");
    }

    #[test]
    fn a_file_that_is_written_to_is_known_to_have_changed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        fs::write(&path, "one").unwrap();
        let held = Held::open(&path).unwrap().hashed().unwrap();
        fs::write(&path, "three").unwrap();
        assert_ne!(held.hash(), Held::open(&path).unwrap().hashed().unwrap().hash());
        assert!(held.into_program().is_err());
    }

    #[test]
    fn a_hash_is_remembered_once_the_file_has_settled() {
        let held = Held::open(Path::new("/bin/sh")).unwrap().hashed().unwrap();
        assert!(KNOWN.lock().unwrap().contains_key(&held.stamp));
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new");
        fs::write(&path, "x").unwrap();
        let held = Held::open(&path).unwrap().hashed().unwrap();
        assert!(!KNOWN.lock().unwrap().contains_key(&held.stamp));
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        assert!(Held::open(Path::new("/")).is_err());
        assert!(Held::open(Path::new("/dev/null")).is_err());
    }
}
