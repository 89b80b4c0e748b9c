//! The process that connected to a Unix socket, held so that its number stays its own.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::net::UnixStream;

/// A process that connected to a Unix socket.
pub(super) struct Process {
    pid: i32,
    handle: OwnedFd,
}

impl Process {
    /// Whoever connected; an error when it is gone, or not to be seen from here.
    pub(super) fn behind(socket: &UnixStream) -> io::Result<Self> {
        let pid = socket.peer_cred()?.pid().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
        // Before Linux 6.5 the number has to do: a moment ago it was that of whoever connected.
        let handle = peer_handle(socket).or_else(|_| pidfd_open(pid, PidfdFlags::empty()))?;
        Ok(Process { pid: pid.as_raw_nonzero().get(), handle })
    }

    /// Its number.
    pub(super) fn pid(&self) -> i32 {
        self.pid
    }

    /// Whether it has not ended yet.
    pub(super) fn is_alive(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(&self.handle, PollFlags::IN)], Some(&now)).is_ok_and(|ended| ended == 0)
    }
}

/// The very process that connected, if the kernel can hand it out.
fn peer_handle(socket: &UnixStream) -> io::Result<OwnedFd> {
    let mut handle: RawFd = -1;
    let mut length = libc::socklen_t::try_from(size_of::<RawFd>()).map_err(io::Error::other)?;
    // SAFETY: `handle` and `length` are live locals, and `length` says how large `handle` is.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERPIDFD,
            (&raw mut handle).cast(),
            &raw mut length,
        )
    };
    if result != 0 || handle < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(handle) })
}
