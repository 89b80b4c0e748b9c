//! The three descriptors of a child.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::net::unix::pipe::{Receiver, Sender};

/// A pipe for an output: the server's end and the child's.
pub(crate) fn output() -> io::Result<(Receiver, OwnedFd)> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((Receiver::from_owned_fd(nonblocking(read)?)?, write))
}

/// A pipe for an input: the server's end and the child's.
pub(crate) fn input() -> io::Result<(Sender, OwnedFd)> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((Sender::from_owned_fd(nonblocking(write)?)?, read))
}

/// An input that is at its end from the beginning.
pub(crate) fn empty_input() -> io::Result<OwnedFd> {
    Ok(rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Only the server's end: the child's must block, as programs expect.
fn nonblocking(fd: OwnedFd) -> io::Result<OwnedFd> {
    let flags = rustix::fs::fcntl_getfl(fd.as_fd())?;
    rustix::fs::fcntl_setfl(fd.as_fd(), flags | OFlags::NONBLOCK)?;
    Ok(fd)
}

/// Makes a pipe that was found full larger, once. Failing is harmless: the user's share of pipe pages is used up.
pub(crate) fn grow(pipe: &Receiver) {
    const LARGE: usize = 1024 * 1024;
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, LARGE);
}
