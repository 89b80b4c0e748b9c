//! Frames over a Unix stream socket, with the descriptors that travel beside them.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use runward_model::wire::{self, Order, Report};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recvmsg, send};

/// How much is read at once. Orders are mostly a few KB.
const READ_SIZE: usize = 64 * 1024;

/// How many descriptors one message can carry: several orders may arrive in one read.
const MAX_FDS: usize = 64;

/// Orders in, reports out.
pub(crate) struct Channel {
    socket: OwnedFd,
    bytes: Vec<u8>,
    fds: VecDeque<OwnedFd>,
    /// Whether the other end has said which protocol it speaks, or need not, being a part of this program.
    is_greeted: bool,
}

impl Channel {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Channel { socket, bytes: Vec::new(), fds: VecDeque::new(), is_greeted: true }
    }

    /// The same to another program, which may be of another version.
    pub(crate) fn to_server(socket: OwnedFd) -> Self {
        let channel = Channel { is_greeted: false, ..Channel::new(socket) };
        channel.send_all(&wire::hello());
        channel
    }

    /// Reads what is there; `false` at the end of the stream.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let start = self.bytes.len();
        self.bytes.resize(start + READ_SIZE, 0);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let result =
            recvmsg(&self.socket, &mut [IoSliceMut::new(&mut self.bytes[start..])], &mut ancillary, flags);
        let read = match result {
            Ok(message) => message.bytes,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {
                self.bytes.truncate(start);
                return Ok(true);
            }
            Err(error) => return Err(error.into()),
        };
        self.bytes.truncate(start + read);
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                self.fds.extend(fds);
            }
        }
        Ok(read > 0)
    }

    /// The next whole order, with the descriptors of a spawn.
    pub(crate) fn next(&mut self) -> io::Result<Option<(Order, Vec<OwnedFd>)>> {
        self.is_greeted = self.is_greeted || wire::take_hello(&mut self.bytes).map_err(io::Error::other)?;
        if !self.is_greeted {
            return Ok(None);
        }
        let Some(order) = wire::decode::<Order>(&mut self.bytes).map_err(io::Error::other)? else {
            return Ok(None);
        };
        let count = if let Order::Spawn { launch, .. } = &order { launch.fds() } else { 0 };
        if self.fds.len() < count {
            return Err(io::Error::other("a spawn order came without its descriptors"));
        }
        Ok(Some((order, self.fds.drain(..count).collect())))
    }

    /// Sends a report whole. The server always reads; should it be gone, the loop sees the end of the stream.
    pub(crate) fn report(&self, report: &Report) {
        if let Ok(frame) = wire::encode(report) {
            self.send_all(&frame);
        }
    }

    /// Sends a frame that is already encoded.
    pub(crate) fn send_all(&self, mut frame: &[u8]) {
        while !frame.is_empty() {
            match send(&self.socket, frame, SendFlags::NOSIGNAL) {
                Ok(sent) => frame = frame.get(sent..).unwrap_or_default(),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
