//! Opening what somebody else may have put there.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a file for reading. A symbolic link is not followed, and a named pipe is not waited for.
pub fn open_unfollowed(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(unfollowed()).open(path)
}

/// Without the first a link that somebody left there would be followed; without the other, a pipe would be waited for.
pub(crate) fn unfollowed() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_is_refused_and_a_pipe_is_not_waited_for() {
        let place = tempfile::tempdir().unwrap();
        let (file, link, pipe) =
            (place.path().join("file"), place.path().join("link"), place.path().join("pipe"));
        std::fs::write(&file, "").unwrap();
        symlink(&file, &link).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        assert!(open_unfollowed(&file).is_ok() && open_unfollowed(&pipe).is_ok());
        let refused = open_unfollowed(&link).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(rustix::io::Errno::LOOP.raw_os_error()));
    }
}
