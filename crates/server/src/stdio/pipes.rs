//! Takes standard input and output away from the rest of the process, and makes them asynchronous.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream as BlockingUnixStream;

use rustix::fs::OFlags;
use rustix::io::fcntl_dupfd_cloexec;
use rustix::net::{AddressFamily, SocketType, sockopt};
use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// What a client writes.
pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;

/// What a client reads.
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Descriptors below this are the standard ones.
const FIRST_OTHER: i32 = 3;

/// Moves the protocol's two streams to descriptors that no other program inherits. From then on descriptor 0 is
/// `/dev/null` and descriptor 1 is standard error, so that nothing else can eat a request or garble an answer.
pub(super) fn take_over() -> io::Result<(Input, Output)> {
    let input = fcntl_dupfd_cloexec(stdin(), FIRST_OTHER)?;
    let output = fcntl_dupfd_cloexec(stdout(), FIRST_OTHER)?;
    dup2_stdin(File::open("/dev/null")?)?;
    dup2_stdout(stderr())?;
    Ok((reader(input)?, writer(output)?))
}

fn reader(fd: OwnedFd) -> io::Result<Input> {
    let file = File::from(fd);
    if let Some(pipe) = reopened(&file, OpenOptions::new().read(true))? {
        return Ok(Box::new(pipe::Receiver::from_owned_fd(pipe.into())?));
    }
    match unix_stream(file)? {
        Ok(stream) => Ok(Box::new(stream)),
        Err(file) => Ok(Box::new(read_by_thread(file)?)),
    }
}

fn writer(fd: OwnedFd) -> io::Result<Output> {
    let file = File::from(fd);
    if let Some(pipe) = reopened(&file, OpenOptions::new().write(true))? {
        return Ok(Box::new(pipe::Sender::from_owned_fd(pipe.into())?));
    }
    match unix_stream(file)? {
        Ok(stream) => Ok(Box::new(stream)),
        Err(file) => Ok(Box::new(tokio::fs::File::from_std(file))),
    }
}

/// A pipe opened once more: our own description can be non-blocking without the other holders noticing.
/// `None` for anything that is no pipe or cannot be opened again.
fn reopened(file: &File, options: &mut OpenOptions) -> io::Result<Option<File>> {
    if !file.metadata()?.file_type().is_fifo() {
        return Ok(None);
    }
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(options.custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path).ok())
}

/// A Unix stream socket, which some clients use in place of pipes; else the file itself.
fn unix_stream(file: File) -> io::Result<Result<UnixStream, File>> {
    let is_unix = sockopt::socket_domain(&file).is_ok_and(|family| family == AddressFamily::UNIX);
    if !is_unix || sockopt::socket_type(&file) != Ok(SocketType::STREAM) {
        return Ok(Err(file));
    }
    let socket = BlockingUnixStream::from(OwnedFd::from(file));
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket).map(Ok)
}

/// A file or terminal, which can only be read by waiting for it. The thread may wait for ever, and so it is not one
/// that the runtime would wait for.
fn read_by_thread(mut file: File) -> io::Result<UnixStream> {
    let (ours, mut theirs) = BlockingUnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let read = move || io::copy(&mut file, &mut theirs);
    std::thread::Builder::new().name("standard input".into()).spawn(read)?;
    UnixStream::from_std(ours)
}
