//! Locks that are waited for, and not for ever.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::open::unfollowed;

/// How long between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// Locks a file of its own for locking, which is made where it is not there; whoever drops what comes back gives the lock
/// back. Another process's lock is waited for this long.
pub fn lock(path: &Path, patience: Duration) -> io::Result<File> {
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(unfollowed())
        .open(path)?;
    let start = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if start.elapsed() > patience => {
                return Err(io::Error::new(ErrorKind::TimedOut, "another server holds its lock"));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_had_once_and_again_when_it_was_given_back() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file.lock");
        let first = lock(&path, Duration::ZERO).unwrap();
        assert_eq!(lock(&path, Duration::ZERO).unwrap_err().kind(), ErrorKind::TimedOut);
        drop(first);
        lock(&path, Duration::ZERO).unwrap();
    }
}
