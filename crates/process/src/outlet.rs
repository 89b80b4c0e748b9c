//! The listener of a command's proxy, which is made where the command is and handed out.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType, recvmsg,
    socketpair,
};

/// The server's end of the door through which a listener comes, and the other one.
pub(crate) fn door() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// The listener that came through. A sandbox that ended before its command began may have sent one too: the last counts.
pub(crate) fn take(door: &OwnedFd) -> io::Result<TcpListener> {
    let mut listener = None;
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let message = match recvmsg(door, &mut [IoSliceMut::new(&mut [0])], &mut ancillary, flags) {
            Ok(message) => message,
            Err(rustix::io::Errno::AGAIN) => break,
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        for part in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = part {
                listener = fds.last().or(listener);
            }
        }
        if message.bytes == 0 {
            break;
        }
    }
    let listener = TcpListener::from(listener.ok_or(io::ErrorKind::NotConnected)?);
    listener.set_nonblocking(true)?;
    Ok(listener)
}
