//! Who is at the other end of a connection: one of our own commands, or somebody else.
//!
//! # Theory of operation
//!
//! Nothing may be answered or started for a command that the runner started, whatever user it is and wherever it has
//! moved itself. A process is one of them if it is in a control group of a runner, or has one among its ancestors: the
//! runner is a subreaper, so that whoever is left alone becomes its child. A connection over TCP is one of theirs if the
//! socket at its other end is: the kernel says in which control group that was made (`diagnostics`), however often it
//! was passed on since, and which inode it has, which a process that left its group still holds (`descent`).
//!
//! Runners of other servers count as well, unless this server itself is below them: then all of this is their command.
//! Where connections tell of control groups, those of others are known by these alone.
//! What cannot be found out is an answer of its own, and whoever asks has to refuse.

mod descent;
mod diagnostics;
mod groups;
mod others;
mod process;
mod tables;

use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use descent::Exactly;
use diagnostics::Diagnostics;
use groups::{Groups, Membership};
use others::Others;
use process::Process;
use tokio::net::UnixStream;

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Nobody that a runner started.
    Apart,
    /// A command, or something that one started.
    Command,
    /// It could not be found out, and this is why.
    Unknown(&'static str),
}

/// Knows the processes that runners have started. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Peers(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// The server's own runner, once there was one.
    runner: Option<RunnerProcess>,
    /// Whether a command ever ran that nothing keeps from leaving its control group.
    any_is_loose: bool,
    groups: Groups,
    diagnostics: Diagnostics,
    others: Others,
}

/// A runner, as far as it matters here.
#[derive(Clone, Debug)]
struct RunnerProcess {
    pid: i32,
    /// Its guardian, which is no command.
    guardian: Vec<Exactly>,
    /// Whether whatever it starts is born into a control group of its own.
    has_groups: bool,
}

/// A socket of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Socket {
    inode: u64,
    user: u32,
    /// The control group that it was made in, where the kernel says so.
    group: Option<u64>,
}

/// What there is at one end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// A socket that somebody holds.
    Held(Socket),
    /// One that nobody holds any more.
    Abandoned,
    /// None.
    Nothing,
}

impl Peers {
    /// From now on this is the server's runner.
    pub(crate) fn started(&self, pid: i32, has_groups: bool) {
        let guardian = descent::descendants(pid).unwrap_or_default();
        let guardian = guardian.into_iter().filter_map(Exactly::now).collect();
        self.known().runner = Some(RunnerProcess { pid, guardian, has_groups });
    }

    /// From now on something may have left its control group.
    pub(crate) fn let_loose(&self) {
        self.known().any_is_loose = true;
    }

    /// Who is at the other end, `theirs`, of a TCP connection that was accepted at `ours`.
    pub fn of_connection(&self, ours: SocketAddr, theirs: SocketAddr) -> Peer {
        let (ours, theirs) = (plain(ours), plain(theirs));
        let mut known = self.known();
        let found = known.diagnostics.find(theirs, ours).or_else(|_| tables::find(theirs, ours));
        match found {
            Ok(Found::Held(socket)) => known.holder_of(&socket),
            Ok(Found::Abandoned) => Peer::Unknown("its other end is closed already"),
            Ok(Found::Nothing) if is_of_this_machine(theirs) => {
                Peer::Unknown("it comes from this machine, and its other end is not there")
            }
            Ok(Found::Nothing) => Peer::Apart,
            Err(_) if !is_of_this_machine(theirs) => Peer::Apart,
            Err(_) => Peer::Unknown("this host does not say whose sockets are whose"),
        }
    }

    /// Who connected to this Unix socket.
    pub fn of_socket(&self, socket: &UnixStream) -> Peer {
        let gone = Peer::Unknown("the process at its other end is gone");
        let Ok(process) = Process::behind(socket) else { return gone };
        let peer = self.of_process(process.pid());
        // Had it ended meanwhile, its number could be another's by now.
        if process.is_alive() { peer } else { gone }
    }

    /// Whether a process is one of those that a runner started.
    fn of_process(&self, pid: i32) -> Peer {
        let runner = self.known().runner.as_ref().map(|runner| runner.pid);
        match (Membership::of_this_process().counts(pid), descent::of(pid, runner)) {
            (Some(true), _) | (_, Some(true)) => Peer::Command,
            (Some(false), Some(false)) => Peer::Apart,
            _ => Peer::Unknown("the process at its other end is gone"),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn holder_of(&mut self, socket: &Socket) -> Peer {
        let by_group = socket.group.map(|group| self.groups.is_of_commands(group));
        if by_group == Some(true) {
            return Peer::Command;
        }
        // Before the first command nobody can be one of this server's.
        let Some(runner) = &self.runner else {
            return self.holder_among(&descent::of_other_runners(None), socket);
        };
        let is_told_by_group = runner.has_groups && by_group.is_some();
        if is_told_by_group && !self.any_is_loose {
            return Peer::Apart;
        }
        let descendants = descent::descendants(runner.pid);
        if is_told_by_group {
            // Whoever is still in a group of its own made its sockets there.
            let own = Membership::of_this_process();
            let has_left = |pid: &i32| {
                own.counts(*pid) != Some(true) && !runner.guardian.iter().any(|known| known.is(*pid))
            };
            let mut left = descendants.into_iter().flatten().filter(has_left);
            let holds =
                |pid| descent::holds(pid, socket).unwrap_or_else(|| descent::can_be(pid, socket.user));
            return if left.any(holds) { Peer::Command } else { Peer::Apart };
        }
        match descendants {
            None => Peer::Unknown("this host does not show the processes of commands"),
            Some(mut descendants) => {
                descendants.extend(descent::of_other_runners(Some(runner.pid)));
                self.holder_among(&descendants, socket)
            }
        }
    }

    /// The same without control groups. What a command hides, or has sent to itself and not yet taken, is held by nobody
    /// that can be seen.
    fn holder_among(&mut self, descendants: &[i32], socket: &Socket) -> Peer {
        if descendants.iter().any(|pid| descent::holds(*pid, socket) == Some(true)) {
            return Peer::Command;
        }
        let can_be_its_user = |pid: &i32| descent::can_be(*pid, socket.user);
        if !descendants.iter().any(can_be_its_user) || self.others.hold(socket, descendants) {
            return Peer::Apart;
        }
        Peer::Unknown("the process at its other end cannot be seen")
    }
}

/// An address of version 4 may be written as one of version 6.
fn plain(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V6(six) => match six.ip().to_ipv4_mapped() {
            Some(four) => SocketAddr::new(four.into(), six.port()),
            None => address,
        },
        SocketAddr::V4(_) => address,
    }
}

/// Whether this machine has this address: then that is where the way to it begins. Nothing is sent.
pub fn is_of_this_machine(address: SocketAddr) -> bool {
    let address = plain(address);
    let any: SocketAddr = match address {
        SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
        SocketAddr::V6(_) => ([0u16; 8], 0).into(),
    };
    let begins = || {
        let socket = UdpSocket::bind(any)?;
        socket.connect(address)?;
        socket.local_addr()
    };
    address.ip().is_loopback() || begins().is_ok_and(|begins| begins.ip() == address.ip())
}
