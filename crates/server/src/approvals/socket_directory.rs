//! The directory of the sockets: private, and looked at as what was opened.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use runward_files::private::{self, Others};
use runward_files::random;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

/// How the name of a socket ends.
const END: &str = ".sock";

/// An open directory that belongs to this user and is open to no other.
#[derive(Debug)]
pub(super) struct SocketDirectory {
    handle: File,
}

impl SocketDirectory {
    /// Makes the directory where it is not there.
    pub(super) fn make(directory: &Path) -> io::Result<Self> {
        private::make(directory)?;
        SocketDirectory::open(directory)
    }

    /// Opens the directory, and refuses one that another user could have prepared.
    pub(super) fn open(directory: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        let handle = File::from(rustix::fs::open(directory, flags, Mode::empty())?);
        let found = handle.metadata()?;
        // Root looks into everybody's.
        let owner = if private::user() == 0 { found.uid() } else { private::user() };
        if !private::belongs_to(&found, owner, Others::Nothing) {
            let what = format!(
                "{} belongs to another user or is open to others; make it private (chmod 700)",
                directory.display()
            );
            return Err(io::Error::new(ErrorKind::PermissionDenied, what));
        }
        Ok(SocketDirectory { handle })
    }

    /// A path to something in it. It goes through the open directory, so that it is short enough for a socket and
    /// nobody can put another directory in between.
    pub(super) fn at(&self, name: &str) -> PathBuf {
        format!("/proc/self/fd/{}/{name}", self.handle.as_raw_fd()).into()
    }

    /// The names of all sockets in it.
    pub(super) fn sockets(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.handle)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy();
            if name.ends_with(END) && entry.file_type() == FileType::Socket {
                names.push(name.into_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Whether a name is still there.
    pub(super) fn holds(&self, name: &str) -> bool {
        rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Gives something in it another name.
    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Takes a name out; one that is gone already is as good.
    pub(super) fn remove(&self, name: &str) {
        let _ = rustix::fs::unlinkat(&self.handle, name, AtFlags::empty());
    }
}

/// The name of a socket of this process.
pub(super) fn fresh_name() -> String {
    format!("{}-{}{END}", std::process::id(), random::name::<4>())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn a_socket_works_however_long_the_path_of_its_directory_is() {
        let home = tempfile::tempdir().expect("a directory");
        let place =
            SocketDirectory::make(&home.path().join("x".repeat(200)).join("approvals")).expect("a place");
        let _listener = UnixListener::bind(place.at("1-a.sock")).expect("a socket");
        UnixStream::connect(place.at("1-a.sock")).expect("a connection");
        assert_eq!(place.sockets().expect("names"), ["1-a.sock"]);
        place.remove("1-a.sock");
        assert!(!place.holds("1-a.sock"));
    }

    #[test]
    fn a_directory_that_others_may_enter_or_that_is_a_link_is_refused() {
        let home = tempfile::tempdir().expect("a directory");
        let (open, link) = (home.path().join("open"), home.path().join("link"));
        SocketDirectory::make(&open).expect("a place");
        symlink(&open, &link).expect("a link");
        assert!(SocketDirectory::open(&link).is_err());
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o710)).expect("a mode");
        assert!(SocketDirectory::make(&open).is_err());
    }
}
