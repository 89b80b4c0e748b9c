//! Forking, for processes with a single thread.

use std::ffi::c_int;
use std::io;

/// Forks with more flags; 0 in the child.
///
/// The caller has a single thread, so the child may run any code.
pub(crate) fn fork(flags: c_int) -> io::Result<i32> {
    let flags = libc::c_ulong::from((flags | libc::SIGCHLD).unsigned_abs());
    // SAFETY: without a stack and without shared memory this is fork.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    i32::try_from(pid).map_err(io::Error::other)
}

/// Ends this process at once, as a child that shares nothing to be dropped must.
pub(crate) fn exit(code: i32) -> ! {
    // SAFETY: ends this process alone; nothing is unwound or flushed.
    unsafe { libc::_exit(code) }
}

/// Waits for a child of this process: its exit code, or `None` when a signal ended it.
pub(crate) fn wait(child: i32) -> Option<i32> {
    let mut status = 0;
    // SAFETY: waits for a child of this process; `status` is a live local.
    while unsafe { libc::waitpid(child, &raw mut status, 0) } < 0 {
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
    libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
}
