//! Namespaces: with the privileges at hand, else inside a user namespace.

use std::ffi::c_int;
use std::fs;
use std::io;
use std::os::fd::AsFd;

use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

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

    /// What a process is made with that is to own namespaces.
    pub(crate) fn user_flag(&self) -> c_int {
        if self.identity.is_some() { libc::CLONE_NEWUSER } else { 0 }
    }

    /// In a process that was made with [`Namespaces::user_flag`]: takes its ids over.
    pub(crate) fn become_owner(&self) -> io::Result<()> {
        if let Some((uids, gids)) = &self.identity {
            // Files about a process belong to root while nobody may look into it; whoever made it has to.
            set_dumpable_behavior(DumpableBehavior::Dumpable)?;
            fs::write("/proc/self/setgroups", "deny")?;
            fs::write("/proc/self/gid_map", gids)?;
            fs::write("/proc/self/uid_map", uids)?;
        }
        Ok(())
    }
}

/// Moves this process into new namespaces.
pub(crate) fn unshare(flags: c_int) -> io::Result<()> {
    // SAFETY: takes numbers only; the process has a single thread.
    if unsafe { libc::unshare(flags) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Moves this process into namespaces that are held open.
pub(crate) fn enter(namespace: impl AsFd, kind: LinkNameSpaceType) -> io::Result<()> {
    Ok(move_into_link_name_space(namespace.as_fd(), Some(kind))?)
}

/// From now on nothing that is mounted in here is seen elsewhere. What the host mounts later is seen in here, or is not.
pub(crate) fn set_propagation(propagation: MountPropagationFlags) -> io::Result<()> {
    Ok(mount_change("/", propagation | MountPropagationFlags::REC)?)
}
