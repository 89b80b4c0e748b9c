//! The kernel's word about one socket: `NETLINK_SOCK_DIAG`, one question and one answer, without a list.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

use super::{Found, Socket};

/// `SOCK_DIAG_BY_FAMILY`, of a question and of its answer.
const BY_FAMILY: u16 = 20;

/// `NLMSG_ERROR`.
const ERROR: u16 = 2;

/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;

/// `INET_DIAG_CGROUP_ID`, an attribute of an answer.
const GROUP: u16 = 21;

/// How long the head of a message is, and what a question and an answer hold behind it.
const HEAD: usize = 16;
const QUESTION: usize = 56;
const ANSWER: usize = 72;

/// `TCP_ESTABLISHED` to `TCP_CLOSE_WAIT` are states of a connection; 10 is one of a listener, which is nobody's other end.
const LISTEN: u8 = 10;

/// Asks the kernel about sockets; the way to it is opened when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Diagnostics {
    socket: Option<OwnedFd>,
    asked: u32,
}

impl Diagnostics {
    /// The socket whose own end is `own` and whose other end is `other`; an error means that the kernel does not say.
    pub(super) fn find(&mut self, own: SocketAddr, other: SocketAddr) -> io::Result<Found> {
        let found = self.ask(own, other);
        if found.is_err() {
            self.socket = None;
        }
        found
    }

    fn ask(&mut self, own: SocketAddr, other: SocketAddr) -> io::Result<Found> {
        self.asked = self.asked.wrapping_add(1);
        let socket = match &mut self.socket {
            Some(socket) => socket,
            none => none.insert(open()?),
        };
        send(&*socket, &question(self.asked, own, other), SendFlags::empty())?;
        let mut answer = [0; 4096];
        // The kernel has answered before the question was sent.
        let (length, _) = recv(&*socket, &mut answer[..], RecvFlags::DONTWAIT)?;
        read(answer.get(..length).unwrap_or_default(), self.asked, (own.port(), other.port()))
    }
}

fn open() -> io::Result<OwnedFd> {
    let (flags, protocol) = (SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG));
    Ok(socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol)?)
}

/// `nlmsghdr` and `inet_diag_req_v2`.
fn question(number: u32, own: SocketAddr, other: SocketAddr) -> Vec<u8> {
    let family = if own.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let interface = match own {
        SocketAddr::V6(six) => six.scope_id(),
        SocketAddr::V4(_) => 0,
    };
    let mut message = Vec::with_capacity(HEAD + QUESTION);
    message.extend(u32::try_from(HEAD + QUESTION).unwrap_or_default().to_ne_bytes());
    message.extend([BY_FAMILY, REQUEST].map(u16::to_ne_bytes).concat());
    message.extend([number, 0].map(u32::to_ne_bytes).concat());
    message.extend([u8::try_from(family.as_raw()).unwrap_or_default(), 6, 0, 0]);
    message.extend(u32::MAX.to_ne_bytes());
    message.extend([own.port(), other.port()].map(u16::to_be_bytes).concat());
    message.extend([own.ip(), other.ip()].map(sixteen).concat());
    message.extend([interface, u32::MAX, u32::MAX].map(u32::to_ne_bytes).concat());
    message
}

fn sixteen(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V6(six) => six.octets(),
        IpAddr::V4(four) => {
            let [a, b, c, d] = four.octets();
            [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        }
    }
}

/// `nlmsghdr` and either `inet_diag_msg` with attributes, or the number of an error.
fn read(message: &[u8], number: u32, ports: (u16, u16)) -> io::Result<Found> {
    let strange = || io::Error::from(io::ErrorKind::InvalidData);
    let length = usize::try_from(u32_at(message, 0).ok_or_else(strange)?).map_err(|_| strange())?;
    let body = message.get(HEAD..length).ok_or_else(strange)?;
    if u32_at(message, 8) != Some(number) {
        return Err(strange());
    }
    match u16_at(message, 4) {
        Some(ERROR) => {
            let errno = u32_at(body, 0).ok_or_else(strange)?.cast_signed().wrapping_neg();
            if errno == libc::ENOENT { Ok(Found::Nothing) } else { Err(io::Error::from_raw_os_error(errno)) }
        }
        Some(BY_FAMILY) => {
            let state = body.get(1).copied().ok_or_else(strange)?;
            let port = |at| Some(u16::from_be_bytes(*body.get(at..)?.first_chunk()?));
            // Where there is no such connection, the kernel tells of whoever listens at that address.
            if state == LISTEN || (port(4), port(6)) != (Some(ports.0), Some(ports.1)) {
                return Ok(Found::Nothing);
            }
            let (user, inode) =
                (u32_at(body, 64).ok_or_else(strange)?, u32_at(body, 68).ok_or_else(strange)?);
            let group = attribute(body.get(ANSWER..).unwrap_or_default(), GROUP);
            let group = group.and_then(|value| Some(u64::from_ne_bytes(*value.first_chunk()?)));
            let socket = Socket { inode: inode.into(), user, group };
            Ok(if inode == 0 { Found::Abandoned } else { Found::Held(socket) })
        }
        _ => Err(strange()),
    }
}

/// The value of one of the attributes that follow each other: length and kind, then the value, then a gap up to the
/// next multiple of four.
fn attribute(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16_at(attributes, 0)?);
        let value = attributes.get(4..length)?;
        if u16_at(attributes, 2)? == wanted {
            return Some(value);
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}
