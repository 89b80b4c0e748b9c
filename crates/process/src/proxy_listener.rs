//! The listener of a command's proxy, which is made where the command is and handed out.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType, recvmsg,
    socketpair,
};

/// The server's end of the channel over which a listener comes, and the other one.
pub(crate) fn channel() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// The listener that came through. A sandbox that ended before its command began may have sent one too: the last counts.
pub(crate) fn take(channel: &OwnedFd) -> io::Result<TcpListener> {
    let mut listener = None;
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let message = match recvmsg(channel, &mut [IoSliceMut::new(&mut [0])], &mut ancillary, flags) {
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

#[cfg(test)]
mod tests {
    use std::io::IoSlice;
    use std::os::fd::AsFd;

    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

    use super::*;

    fn hand_out(channel: &OwnedFd, listener: &TcpListener) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let fds = [listener.as_fd()];
        assert!(ancillary.push(SendAncillaryMessage::ScmRights(&fds)));
        sendmsg(channel, &[IoSlice::new(b"l")], &mut ancillary, SendFlags::empty()).unwrap();
    }

    #[test]
    fn the_last_listener_counts_whether_or_not_the_other_end_is_still_there() {
        for is_gone in [false, true] {
            let (near, far) = channel().unwrap();
            let both = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
            for listener in &both {
                hand_out(&far, listener);
            }
            let _still_there = (!is_gone).then_some(far);
            assert_eq!(take(&near).unwrap().local_addr().unwrap(), both[1].local_addr().unwrap());
        }
    }

    #[test]
    fn none_is_an_error() {
        let (near, far) = channel().unwrap();
        assert_eq!(take(&near).unwrap_err().kind(), io::ErrorKind::NotConnected);
        drop(far);
        assert_eq!(take(&near).unwrap_err().kind(), io::ErrorKind::NotConnected);
    }
}
