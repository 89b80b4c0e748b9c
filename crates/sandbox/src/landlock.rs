//! Landlock: which files may be touched, whoever runs.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use rustix::fs::FileType;

const EXECUTE: u64 = 1 << 0;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_SOCK: u64 = 1 << 9;
const MAKE_BLOCK: u64 = 1 << 11;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
const RESOLVE_UNIX: u64 = 1 << 16;

/// Rights that can be given on something that is no directory.
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV | RESOLVE_UNIX;

/// The first version that knows sockets in the file system.
pub(crate) const KNOWS_SOCKETS: u32 = 9;

/// What may be done below some path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Read and execute.
    Read,
    /// Read, write and control: for devices.
    Use,
    /// Read, and make sockets; everything else is made and changed by a broker.
    Brokered,
    /// Everything but to make devices.
    Change,
}

impl Access {
    fn bits(self) -> u64 {
        match self {
            Access::Read => EXECUTE | READ_FILE | READ_DIR,
            Access::Use => READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE | IOCTL_DEV,
            Access::Brokered => EXECUTE | READ_FILE | READ_DIR | MAKE_SOCK | RESOLVE_UNIX,
            Access::Change => !(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV),
        }
    }
}

/// The kernel's `struct landlock_ruleset_attr`.
#[repr(C)]
struct Handled {
    files: u64,
    net: u64,
    scoped: u64,
}

/// The kernel's `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct Beneath {
    allowed: u64,
    parent: i32,
}

/// The version of Landlock that the kernel has; 0 for none.
pub(crate) fn version() -> u32 {
    /// Asks for the version instead of making anything.
    const VERSION: u32 = 1;
    // SAFETY: with this flag the kernel reads no memory and makes nothing.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, VERSION) };
    u32::try_from(version).unwrap_or(0)
}

/// A set of rules. Nothing is allowed but what is added.
#[derive(Debug)]
pub(crate) struct Ruleset {
    fd: OwnedFd,
    handled: u64,
}

impl Ruleset {
    /// The strictest that this kernel knows: files, signals, abstract sockets.
    pub(crate) fn new() -> io::Result<Self> {
        let version = version();
        let files = match version {
            0 => return Err(io::Error::from_raw_os_error(libc::ENOSYS)),
            1 => (1 << 13) - 1,
            2 => (1 << 14) - 1,
            3 | 4 => (1 << 15) - 1,
            5..=8 => (1 << 16) - 1,
            _ => (1 << 17) - 1,
        };
        let handled = Handled { files, net: 0, scoped: 3 };
        let size: usize = match version {
            1..=3 => 8,
            4 | 5 => 16,
            _ => size_of::<Handled>(),
        };
        // SAFETY: the kernel reads `size` bytes of a live structure that is at least as long.
        let fd = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const handled, size, 0) };
        let fd = i32::try_from(fd).ok().filter(|fd| *fd >= 0).ok_or_else(io::Error::last_os_error)?;
        // SAFETY: `fd` was just made and has no other owner; the kernel sets close-on-exec.
        Ok(Ruleset { fd: unsafe { OwnedFd::from_raw_fd(fd) }, handled: files })
    }

    /// Allows `access` to what is open as `parent`, and everything below.
    pub(crate) fn allow(&self, parent: impl AsFd, access: Access) -> io::Result<()> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&parent)?.st_mode);
        self.allow_known(parent, kind == FileType::Directory, access)
    }

    /// The same where it is known whether that is a directory.
    pub(crate) fn allow_known(&self, parent: impl AsFd, directory: bool, access: Access) -> io::Result<()> {
        const PATH_BENEATH: u32 = 1;
        let parent = parent.as_fd();
        let allowed = access.bits() & self.handled & if directory { u64::MAX } else { OF_FILES };
        let rule = Beneath { allowed, parent: parent.as_raw_fd() };
        // SAFETY: the kernel reads a live structure of the kind that is named.
        let done = unsafe {
            let fd = self.fd.as_raw_fd();
            libc::syscall(libc::SYS_landlock_add_rule, fd, PATH_BENEATH, &raw const rule, 0)
        };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Holds this process to the rules from now on; needs `no_new_privs`. Async-signal-safe.
    pub(crate) fn restrict(&self) -> io::Result<()> {
        // SAFETY: takes a descriptor and no memory.
        let done = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, self.fd.as_raw_fd(), 0) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}
