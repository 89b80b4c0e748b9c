//! Sockets of a sandbox's network, made for the server: by them it reaches what a command serves in there.
//!
//! Each byte that comes over the channel asks for one: `4` or `6`, as the address has. The answer is that byte with the
//! socket beside it, or alone where none could be made.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    recv, sendmsg, socket_with,
};

/// The channel over which the server asks for the sockets of one command's network.
#[derive(Debug)]
pub(crate) struct Sockets(OwnedFd);

impl Sockets {
    pub(crate) fn new(channel: OwnedFd) -> Self {
        Sockets(channel)
    }

    /// What wakes this process.
    pub(crate) fn channel(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Makes what was asked for; whether anybody may ask for more.
    pub(crate) fn answer(&self) -> bool {
        loop {
            let mut asked = [0];
            match recv(&self.0, &mut asked[..], RecvFlags::DONTWAIT) {
                Ok((1.., _)) if self.hand_out(asked).is_ok() => {}
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return true,
                Ok(_) | Err(_) => return false,
            }
        }
    }

    fn hand_out(&self, asked: [u8; 1]) -> Result<(), Errno> {
        let family = if asked == *b"6" { AddressFamily::INET6 } else { AddressFamily::INET };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(family, SocketType::STREAM, flags, None);
        let fds: Vec<_> = socket.as_ref().ok().map(AsFd::as_fd).into_iter().collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(&fds)) {
            return Err(Errno::INVAL);
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        sendmsg(&self.0, &[IoSlice::new(&asked)], &mut ancillary, flags).map(drop)
    }
}
