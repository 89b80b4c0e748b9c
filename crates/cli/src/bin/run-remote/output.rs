//! What the command prints, printed here, byte for byte.

use std::os::fd::BorrowedFd;

use runward_model::Stream;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::stdio::{stderr, stdout};

/// Why it could not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unprinted {
    /// Nobody reads it any more.
    Closed,
    /// The system's reason.
    Failed(Errno),
}

/// Prints all of it, at once and unbuffered.
pub(crate) fn print(stream: Stream, mut bytes: &[u8]) -> Result<(), Unprinted> {
    let output = match stream {
        Stream::Stdout => stdout(),
        Stream::Stderr => stderr(),
    };
    while !bytes.is_empty() {
        match rustix::io::write(output, bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_for_room(output),
            Err(Errno::PIPE) => return Err(Unprinted::Closed),
            Err(errno) => return Err(Unprinted::Failed(errno)),
        }
    }
    Ok(())
}

/// An output that somebody has made non-blocking.
fn wait_for_room(output: BorrowedFd<'_>) {
    let _ = poll(&mut [PollFd::from_borrowed_fd(output, PollFlags::OUT)], None);
}
