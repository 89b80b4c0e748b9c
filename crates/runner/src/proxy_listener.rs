//! The one way out of a sandbox without network: a socket that listens inside and is served outside.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown, SocketFlags, SocketType,
    bind, listen, sendmsg, shutdown, socket_with, sockopt,
};

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 128;

/// The listener of one command's proxy. When it is dropped, nobody listens any more, out there either.
#[derive(Debug)]
pub(crate) struct ProxyListener(OwnedFd);

impl ProxyListener {
    /// Listens on the loopback of this process's network, and hands the listener out over `channel`.
    pub(crate) fn open(channel: &OwnedFd, port: u16) -> io::Result<Self> {
        let listener = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        // The last command's connections may not have been forgotten yet.
        sockopt::set_socket_reuseaddr(&listener, true)?;
        bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
        listen(&listener, BACKLOG)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let fds = [listener.as_fd()];
        if !ancillary.push(SendAncillaryMessage::ScmRights(&fds)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        sendmsg(channel, &[IoSlice::new(b"l")], &mut ancillary, SendFlags::NOSIGNAL)?;
        Ok(ProxyListener(listener))
    }
}

impl Drop for ProxyListener {
    /// The server holds the same socket; closing this end alone would leave it listening.
    fn drop(&mut self) {
        let _ = shutdown(&self.0, Shutdown::Both);
    }
}
