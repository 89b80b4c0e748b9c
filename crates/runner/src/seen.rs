//! What there is of a session, as the kernel lists it: how many processes, where they listen, and whether a file is there.

use std::collections::{BTreeSet, HashSet};
use std::ffi::CStr;
use std::fs;
use std::path::Path;

use runward_model::wire::Seen;
use rustix::fs::{Mode, OFlags, ResolveFlags};

use crate::procfs;

/// More processes than this are counted and not looked at.
const MOST: usize = 256;

/// More descriptors of one process than this are not looked at.
const MOST_DESCRIPTORS: usize = 4096;

/// How the kernel writes that a socket listens.
const LISTENS: &str = "0A";

/// Looks at the processes of a session.
pub(crate) fn of(members: &[i32], file: Option<&CStr>) -> Seen {
    let members: Vec<i32> = members.iter().copied().filter(|pid| !procfs::is_zombie(*pid)).collect();
    let looked_at = members.get(..MOST).unwrap_or(&members);
    Seen {
        processes: u32::try_from(members.len()).unwrap_or(u32::MAX),
        ports: ports(looked_at).into_iter().collect(),
        file: file.is_some_and(|file| looked_at.iter().any(|pid| has(*pid, file))),
    }
}

/// Where processes listen, each in the network that it is in.
fn ports(members: &[i32]) -> BTreeSet<u16> {
    let (mut found, mut lists) = (BTreeSet::new(), Vec::new());
    for pid in members {
        let sockets = sockets(*pid);
        if sockets.is_empty() {
            continue;
        }
        let network = fs::read_link(format!("/proc/{pid}/ns/net")).unwrap_or_default();
        if !lists.iter().any(|(known, _)| *known == network) {
            lists.push((network.clone(), listeners(*pid)));
        }
        let its = lists.iter().filter(|(known, _)| *known == network).flat_map(|(_, list)| list);
        found.extend(its.filter(|(socket, _)| sockets.contains(socket)).map(|(_, port)| *port));
    }
    found
}

/// The sockets that a process has open, by their numbers.
fn sockets(pid: i32) -> HashSet<u64> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let names = entries.take(MOST_DESCRIPTORS).filter_map(|entry| fs::read_link(entry.path()).ok());
    names.filter_map(|name| socket(&name)).collect()
}

fn socket(name: &Path) -> Option<u64> {
    name.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// Every socket that listens in the network of a process, and its port.
fn listeners(pid: i32) -> Vec<(u64, u16)> {
    let table = |name: &str| fs::read_to_string(format!("/proc/{pid}/net/{name}")).unwrap_or_default();
    [table("tcp"), table("tcp6")].iter().flat_map(|table| table.lines().filter_map(listener)).collect()
}

/// One line of the kernel's table: number, local address, remote address, state, and further on the socket.
fn listener(line: &str) -> Option<(u64, u16)> {
    let mut words = line.split_ascii_whitespace();
    let (_, port) = words.nth(1)?.rsplit_once(':')?;
    let state = words.nth(1)?;
    let socket = words.nth(5)?.parse().ok()?;
    let port = u16::from_str_radix(port, 16).ok()?;
    (state == LISTENS).then_some((socket, port))
}

/// Whether a process would find a file at this path. Links in it lead nowhere outside of what the process sees.
fn has(pid: i32, file: &CStr) -> bool {
    let within = || {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let root = rustix::fs::open(format!("/proc/{pid}/root"), flags | OFlags::DIRECTORY, Mode::empty())?;
        rustix::fs::openat2(root, file, flags, Mode::empty(), ResolveFlags::IN_ROOT)
    };
    within().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn own() -> i32 {
        i32::try_from(std::process::id()).unwrap()
    }

    #[test]
    fn a_process_is_seen_with_its_ports_and_its_files() {
        let listeners = ["127.0.0.1:0", "[::1]:0"].map(|address| TcpListener::bind(address).ok());
        let seen = of(&[own()], Some(c"/proc/version"));
        for listener in listeners.iter().flatten() {
            let port = listener.local_addr().unwrap().port();
            assert!(seen.ports.contains(&port), "{port} in {seen:?}");
        }
        assert!(seen.file && seen.processes == 1, "{seen:?}");
        assert!(!of(&[own()], Some(c"/nowhere/at/all")).file);
    }

    #[test]
    fn a_socket_that_does_not_listen_is_no_port() {
        let line = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 0";
        assert_eq!(listener(line), Some((4242, 8080)));
        assert_eq!(listener(&line.replace(" 0A ", " 01 ")), None);
        assert_eq!(listener("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when"), None);
    }

    #[test]
    fn processes_that_are_gone_are_not_counted() {
        assert_eq!(of(&[i32::MAX], Some(c"/")), Seen::default());
    }
}
