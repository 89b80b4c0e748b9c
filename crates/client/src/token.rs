//! The token of this machine's user, which nobody has to name.

use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use runward_files::open_unfollowed;
use runward_files::private::{self, Others};

/// More than any token of ours.
const LONGEST: u64 = 1024;

/// What this file holds, if it is there. One that others could have written or read is an error.
pub fn token(file: &Path) -> io::Result<Option<String>> {
    let opened = match open_unfollowed(file) {
        Ok(opened) => opened,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", file.display()))),
    };
    let about = opened.metadata()?;
    if !about.is_file() || !private::belongs_to(&about, private::user(), Others::Nothing) {
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
