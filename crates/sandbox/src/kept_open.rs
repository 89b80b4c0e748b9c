//! Namespaces that are held open, in which nobody runs.

use std::ffi::c_int;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, pipe_with};

use crate::fork;

/// Has a process of its own make namespaces, and takes hold of them before it ends.
pub(crate) fn kept_open<T>(
    flags: c_int,
    make: impl FnOnce() -> io::Result<()>,
    take: impl FnOnce(&dyn Fn(&str) -> io::Result<OwnedFd>) -> io::Result<T>,
) -> io::Result<T> {
    let ((told, tell), (wait, done)) = (pipe_with(PipeFlags::CLOEXEC)?, pipe_with(PipeFlags::CLOEXEC)?);
    let maker = fork::fork(flags)?;
    if maker == 0 {
        drop(done);
        let errno = make().map_or_else(|error| error.raw_os_error().unwrap_or(libc::EIO), |()| 0);
        let _ = File::from(tell).write_all(&errno.to_ne_bytes());
        let _ = File::from(wait).read(&mut [0]);
        fork::exit(0);
    }
    drop((tell, wait));
    let mut errno = libc::EIO.to_ne_bytes();
    let read = File::from(told).read_exact(&mut errno);
    let open = |name: &str| Ok(File::open(format!("/proc/{maker}/ns/{name}"))?.into());
    let held = match (read, i32::from_ne_bytes(errno)) {
        (Ok(()), 0) => take(&open),
        (Ok(()), errno) => Err(io::Error::from_raw_os_error(errno)),
        (Err(error), _) => Err(error),
    };
    drop(done);
    fork::wait(maker);
    held
}
