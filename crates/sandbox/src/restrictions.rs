//! What a command is restricted by from between clone and exec on, whatever it executes.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use runward_model::{Fence, Network, PrivateDirectory};

use crate::broker;
use crate::capabilities;
use crate::landlock::{self, Access, Ruleset};
use crate::mounts;
use crate::readable::Readable;
use crate::seccomp::{Files, Filter, Sockets};

/// What a command is restricted by: made before the clone, since nothing may be allocated between that and exec.
#[derive(Debug)]
pub struct Restrictions {
    /// None where mounts keep what Landlock would, and the kernel's Landlock is too old to let files be moved about.
    rules: Option<Ruleset>,
    filter: Filter,
    /// Where the listener of a broker goes.
    listeners: Option<OwnedFd>,
    /// Whether each command has to see to it by itself that it gains no capability.
    bounds: bool,
}

/// The first version of Landlock that lets files be moved from one directory to another.
const MOVES_FILES: u32 = 2;

/// Device files that every program may use.
pub(crate) const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

impl Restrictions {
    /// For a command in an enclosure, where the mounts have been made: they keep what Landlock cannot. What is `brokered` is
    /// changed by whoever gets the listeners.
    pub(crate) fn enclosed<'a>(
        writable: impl Iterator<Item = &'a Path>,
        brokered: impl Iterator<Item = &'a Path>,
        listeners: Option<OwnedFd>,
    ) -> io::Result<Self> {
        let files = if listeners.is_some() { Files::Brokered } else { Files::Own };
        let filter = Filter::new(Sockets::Usual, files);
        if landlock::version() < MOVES_FILES {
            // Nothing else keeps a command from making files by itself.
            return if listeners.is_some() {
                Err(io::ErrorKind::Unsupported.into())
            } else {
                Ok(Restrictions { rules: None, filter, listeners, bounds: false })
            };
        }
        let rules = Ruleset::new()?;
        rules.allow(mounts::open(c"/")?, Access::Read)?;
        for path in writable {
            rules.allow(mounts::find(path)?, Access::Change)?;
        }
        for path in brokered {
            rules.allow(mounts::find(path)?, Access::Brokered)?;
        }
        rules.allow(mounts::open(c"/dev")?, Access::Use)?;
        Ok(Restrictions { rules: Some(rules), filter, listeners, bounds: false })
    }

    /// For a command without namespaces: everything readable but what is hidden and what everybody shares.
    pub fn alone(fence: &Fence, readable: &mut Readable) -> io::Result<Self> {
        let rules = Ruleset::new()?;
        let hidden: Vec<_> = fence.hidden.iter().map(|path| mounts::path(path)).collect();
        // Devices, and other people's temporary files and services, are not read as a whole.
        let shared = PrivateDirectory::ALL.map(|private| private.path).into_iter().chain(["/dev"]);
        let kept_out: Vec<_> = hidden.into_iter().chain(shared.map(Path::new)).collect();
        for place in readable.all_but(&kept_out) {
            rules.allow_known(&place.open, place.is_directory, Access::Read)?;
        }
        for shown in fence.shown.iter().filter_map(|path| mounts::find(mounts::path(path)).ok()) {
            rules.allow(shown, Access::Read)?;
        }
        for path in fence.writable.iter().chain(&fence.temporary) {
            rules.allow(mounts::find(mounts::path(path))?, Access::Change)?;
        }
        for device in DEVICES {
            if let Ok(open) = rustix::fs::open(device, mounts::FIND, rustix::fs::Mode::empty()) {
                rules.allow(open, Access::Use)?;
            }
        }
        let sockets = match fence.network {
            // A proxy cannot be had without a network namespace.
            Network::Off | Network::Listed => Sockets::None,
            Network::On if landlock::version() >= landlock::KNOWS_SOCKETS => Sockets::Usual,
            Network::On => Sockets::Internet,
        };
        let filter = Filter::new(sockets, Files::Own);
        Ok(Restrictions { rules: Some(rules), filter, listeners: None, bounds: true })
    }

    /// Lets the command also use what is open as `terminal` by its name.
    pub fn admit_terminal(&self, terminal: impl AsFd) -> io::Result<()> {
        self.rules.as_ref().map_or(Ok(()), |rules| rules.allow(terminal, Access::Use))
    }

    /// Applies them to this process, for good. Async-signal-safe: system calls only.
    ///
    /// The order counts. The bounding set needs a capability to be lowered, so it comes before they are dropped; once
    /// they are, only a process that gains no new privileges may restrict itself. The filter comes last, so that it need
    /// not allow what the others call.
    pub fn apply(&self) -> io::Result<()> {
        // In an enclosure that has been done once for all.
        if self.bounds {
            capabilities::bound();
        }
        capabilities::drop_all()?;
        // SAFETY: takes numbers only.
        if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } < 0 {
            return Err(io::Error::last_os_error());
        }
        if let Some(rules) = &self.rules {
            rules.restrict()?;
        }
        match (self.filter.install()?, &self.listeners) {
            (Some(listener), Some(channel)) => broker::send_listener(channel.as_raw_fd(), listener),
            _ => Ok(()),
        }
    }
}
