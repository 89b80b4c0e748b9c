//! Namespaces: with the privileges at hand, else inside a user namespace.

use std::ffi::c_int;
use std::fs;
use std::io;

use runward_model::Network;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal};

/// How namespaces can be made here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespaces {
    /// `uid_map` and `gid_map` lines where a user namespace is needed: the same ids inside as outside.
    identity: Option<(String, String)>,
}

impl Namespaces {
    /// With the privileges of this process.
    pub(crate) fn privileged() -> Self {
        Namespaces { identity: None }
    }

    /// Inside a user namespace.
    pub(crate) fn unprivileged() -> Self {
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Namespaces { identity: Some((format!("{uid} {uid} 1"), format!("{gid} {gid} 1"))) }
    }

    /// What the first process is made with; it makes the rest itself, so as not to hold its parent up.
    pub fn clone_flags(&self) -> c_int {
        libc::CLONE_NEWPID | if self.identity.is_some() { libc::CLONE_NEWUSER } else { 0 }
    }

    /// In the first process: makes the other namespaces, and ends with its parent.
    pub(crate) fn enter(&self, network: Network) -> io::Result<()> {
        // Its end is the end of all others, so it may go at once should its parent be killed.
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if let Some((uids, gids)) = &self.identity {
            // Files about a process belong to root while nobody may look into it.
            set_dumpable_behavior(DumpableBehavior::Dumpable)?;
            fs::write("/proc/self/setgroups", "deny")?;
            fs::write("/proc/self/gid_map", gids)?;
            fs::write("/proc/self/uid_map", uids)?;
        }
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        let net = if network.is_own() { libc::CLONE_NEWNET } else { 0 };
        unshare(libc::CLONE_NEWNS | libc::CLONE_NEWIPC | net)?;
        Ok(mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?)
    }
}

/// Moves this process into new namespaces.
pub(crate) fn unshare(flags: c_int) -> io::Result<()> {
    // SAFETY: takes numbers only; the process has a single thread.
    if unsafe { libc::unshare(flags) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
