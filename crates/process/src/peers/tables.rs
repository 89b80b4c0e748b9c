//! The kernel's lists of TCP sockets, for hosts without socket diagnostics. They say nothing of control groups.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::net::{IpAddr, SocketAddr};

use super::{Found, Socket};

/// Where a line has the own end, the other end, the user, the inode.
const FIELDS: [usize; 4] = [1, 2, 7, 9];

/// The socket whose own end is `own` and whose other end is `other`.
pub(super) fn find(own: SocketAddr, other: SocketAddr) -> io::Result<Found> {
    // A socket of version 6 can be one end of a connection of version 4.
    let mapped = |address: SocketAddr| match address.ip() {
        IpAddr::V4(four) => SocketAddr::new(four.to_ipv6_mapped().into(), address.port()),
        IpAddr::V6(_) => address,
    };
    let four = if own.is_ipv4() { find_in("tcp", own, other)? } else { Found::Nothing };
    if four != Found::Nothing {
        return Ok(four);
    }
    match find_in("tcp6", mapped(own), mapped(other)) {
        Err(error) if own.is_ipv4() && error.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing),
        found => found,
    }
}

fn find_in(table: &str, own: SocketAddr, other: SocketAddr) -> io::Result<Found> {
    let (own, other) = (written(own), written(other));
    for line in BufReader::new(File::open(format!("/proc/self/net/{table}"))?).lines() {
        if let Some(found) = read(&line?, &own, &other) {
            return Ok(found);
        }
    }
    Ok(Found::Nothing)
}

fn read(line: &str, own: &str, other: &str) -> Option<Found> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [this, that, user, inode] = FIELDS.map(|at| words.get(at).copied());
    if (this, that) != (Some(own), Some(other)) {
        return None;
    }
    let (user, inode) = (user?.parse().ok()?, inode?.parse().ok()?);
    Some(if inode == 0 { Found::Abandoned } else { Found::Held(Socket { inode, user, group: None }) })
}

/// As the kernel writes it: words of 32 bits as the machine holds them, and the port.
fn written(address: SocketAddr) -> String {
    let octets = match address.ip() {
        IpAddr::V4(four) => four.octets().to_vec(),
        IpAddr::V6(six) => six.octets().to_vec(),
    };
    let (words, _) = octets.as_chunks::<4>();
    let mut text = String::new();
    for word in words {
        let _ = write!(text, "{:08X}", u32::from_ne_bytes(*word));
    }
    let _ = write!(text, ":{:04X}", address.port());
    text
}
