//! Acts that reach outside.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixStream};
use std::time::Duration;

use runward_model::{Network, Promise};

use super::{Entry, Stage, done};

/// Long enough for a loopback, short enough for an address that nobody has.
const PATIENCE: Duration = Duration::from_millis(500);

pub(super) const ACTS: &[Entry] = &[
    ("connect to the host", Promise::Network, |stage| {
        TcpStream::connect_timeout(&host(stage), PATIENCE).map(drop)
    }),
    ("send a datagram to the host", Promise::Network, datagram),
    ("send with the first packet", Promise::Network, fast_open),
    ("connect over several paths", Promise::Network, multipath),
    ("make a raw socket", Promise::Network, |_| make(libc::AF_INET, libc::SOCK_RAW, 1)),
    ("make a packet socket", Promise::Network, |_| make(libc::AF_PACKET, libc::SOCK_RAW, 3)),
    ("make a socket to the hypervisor", Promise::Network, |_| make(libc::AF_VSOCK, libc::SOCK_STREAM, 0)),
    ("make a socket to the kernel", Promise::Network, |_| make(libc::AF_NETLINK, libc::SOCK_RAW, 15)),
    ("make a socket of the kernel's ciphers", Promise::Network, |_| {
        make(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)
    }),
    ("ask for a name", Promise::Network, ask_for_a_name),
    ("have a proxy connect to the host", Promise::Network, |stage| {
        by_proxy(&format!("127.0.0.1:{}", stage.port))
    }),
    ("have a proxy look the host up", Promise::Network, |stage| {
        by_proxy(&format!("localhost:{}", stage.port))
    }),
    ("reach an abstract socket", Promise::Services, |stage| {
        let address = UnixAddress::from_abstract_name(&stage.abstract_name)?;
        UnixStream::connect_addr(&address).map(drop)
    }),
    ("reach a socket in the file system", Promise::Services, |stage| {
        UnixStream::connect(stage.outside("socket")).map(drop)
    }),
];

fn host(stage: &Stage) -> SocketAddr {
    SocketAddrV4::new(Ipv4Addr::LOCALHOST, stage.port).into()
}

/// A datagram to nobody is lost silently, so whoever listens answers.
fn datagram(stage: &Stage) -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.connect(host(stage))?;
    socket.send(b"x")?;
    socket.recv(&mut [0; 8]).map(drop)
}

fn socket(family: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    // SAFETY: takes numbers only.
    let fd = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) };
    done(fd.into())?;
    // SAFETY: just made, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn make(family: i32, kind: i32, protocol: i32) -> io::Result<()> {
    socket(family, kind, protocol).map(drop)
}

fn address(stage: &Stage) -> libc::sockaddr_in {
    // SAFETY: plain data for which all zeros is valid.
    let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    address.sin_family = libc::sa_family_t::try_from(libc::AF_INET).unwrap_or_default();
    address.sin_port = stage.port.to_be();
    address.sin_addr.s_addr = u32::from(Ipv4Addr::LOCALHOST).to_be();
    address
}

fn fast_open(stage: &Stage) -> io::Result<()> {
    let (socket, address) = (socket(libc::AF_INET, libc::SOCK_STREAM, 0)?, address(stage));
    // SAFETY: one byte, and a live address of the length given.
    let sent = unsafe {
        let length = u32::try_from(size_of_val(&address)).unwrap_or(0);
        let to = (&raw const address).cast();
        libc::sendto(socket.as_raw_fd(), c"x".as_ptr().cast(), 1, libc::MSG_FASTOPEN, to, length)
    };
    done(sent.try_into().unwrap_or(-1))
}

fn multipath(stage: &Stage) -> io::Result<()> {
    const MULTIPATH: i32 = 262;
    let (socket, address) = (socket(libc::AF_INET, libc::SOCK_STREAM, MULTIPATH)?, address(stage));
    // SAFETY: a live address of the length given.
    done(
        unsafe {
            let length = u32::try_from(size_of_val(&address)).unwrap_or(0);
            libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length)
        }
        .into(),
    )
}

/// Asks the proxy of a command with lists of hosts for one that is on none.
fn by_proxy(target: &str) -> io::Result<()> {
    let proxy = SocketAddr::from((Ipv4Addr::LOCALHOST, Network::PROXY_PORT));
    let mut stream = TcpStream::connect_timeout(&proxy, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("CONNECT {target} HTTP/1.1\r\n\r\n").as_bytes())?;
    let mut answer = [0; 12];
    stream.read_exact(&mut answer)?;
    match &answer {
        b"HTTP/1.1 200" => Ok(()),
        other => Err(io::Error::other(String::from_utf8_lossy(other).into_owned())),
    }
}

/// An address that belongs to nobody: that there is a way to it is what matters.
fn ask_for_a_name(_: &Stage) -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.send_to(b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01a\0\0\x01\0\x01", "192.0.2.53:53").map(drop)
}
