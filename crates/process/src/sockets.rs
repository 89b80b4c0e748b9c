//! Sockets of a command's own network, which its sandbox makes and hands out: a socket stays in the network it was made in.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendFlags,
    SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Mutex;

/// Where a command's network is reached from here.
#[derive(Debug)]
pub enum Loopback {
    /// It is this host's.
    Host,
    /// It is its own, and its sandbox makes sockets there. One is asked for at a time.
    Own(Mutex<AsyncFd<OwnedFd>>),
}

impl Loopback {
    /// This end of the channel over which sockets are asked for, and the other one.
    pub(crate) fn own() -> io::Result<(Self, OwnedFd)> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (near, far) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        // SAFETY: this owns the descriptor, and closes it only when it is dropped itself.
        let near = unsafe { AsyncFd::register(near) }?;
        Ok((Loopback::Own(Mutex::new(near)), far))
    }

    /// Connects to whoever listens on a port of it, by either address.
    pub async fn connect(&self, port: u16) -> io::Result<TcpStream> {
        match self.connect_to((Ipv4Addr::LOCALHOST, port).into()).await {
            Ok(stream) => Ok(stream),
            Err(_) => self.connect_to((Ipv6Addr::LOCALHOST, port).into()).await,
        }
    }

    async fn connect_to(&self, address: SocketAddr) -> io::Result<TcpStream> {
        match self {
            Loopback::Host => TcpStream::connect(address).await,
            Loopback::Own(channel) => {
                let family = if address.is_ipv6() { b"6" } else { b"4" };
                let socket = ask(&*channel.lock().await, *family).await?;
                TcpSocket::from_std_stream(socket.into()).connect(address).await
            }
        }
    }
}

async fn ask(channel: &AsyncFd<OwnedFd>, family: [u8; 1]) -> io::Result<OwnedFd> {
    let send = |channel: &OwnedFd| {
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        Ok(sendmsg(channel, &[IoSlice::new(&family)], &mut SendAncillaryBuffer::default(), flags)?)
    };
    channel.async_io(Interest::WRITABLE, send).await?;
    loop {
        // What somebody asked for who then went away may come first.
        let (which, made) = channel.async_io(Interest::READABLE, receive).await?;
        if which == family {
            return made.ok_or_else(|| io::ErrorKind::NotConnected.into());
        }
    }
}

/// The next answer: for what it is, and a socket, or none where there can be none.
fn receive(channel: &OwnedFd) -> io::Result<([u8; 1], Option<OwnedFd>)> {
    let mut which = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let message = recvmsg(channel, &mut [IoSliceMut::new(&mut which)], &mut ancillary, flags)?;
    let mut made = None;
    for part in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = part {
            made = fds.last();
        }
    }
    if message.bytes == 0 {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    Ok((which, made))
}
