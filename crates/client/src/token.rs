//! The token of this machine's user, which nobody has to name.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

/// More than any token of ours.
const LONGEST: u64 = 1024;

/// What this file holds, if it is there. One that others could have written or read is an error.
pub fn token(file: &Path) -> io::Result<Option<String>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let opened = match OpenOptions::new().read(true).custom_flags(flags).open(file) {
        Ok(opened) => opened,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", file.display()))),
    };
    let about = opened.metadata()?;
    let user = rustix::process::geteuid().as_raw();
    if !about.is_file() || about.uid() != user || about.mode() & 0o077 != 0 {
        let what = format!(
            "{} is not private to this user: make a new one with runward token --new",
            file.display()
        );
        return Err(io::Error::new(ErrorKind::PermissionDenied, what));
    }
    let mut token = String::new();
    opened.take(LONGEST).read_to_string(&mut token)?;
    let token = token.trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let what = format!("{} holds no token: make a new one with runward token --new", file.display());
        return Err(io::Error::new(ErrorKind::InvalidData, what));
    }
    Ok(Some(token.to_owned()))
}
