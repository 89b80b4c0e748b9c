//! PID namespaces: the kernel ends every member when the first one goes.

use std::fs;
use std::io;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};

use crate::clone_vm;

/// What to unshare, and how the caller's identity is kept.
pub(crate) struct Namespace {
    flags: libc::c_int,
    /// `uid_map` and `gid_map` lines when a user namespace is needed: the same ids inside as outside.
    identity: Option<(String, String)>,
}

impl Namespace {
    /// Tries a namespace with a real process: with the privileges at hand, else inside a user namespace.
    pub(crate) fn try_here() -> io::Result<Self> {
        let plain = Namespace { flags: libc::CLONE_NEWPID | libc::CLONE_NEWNS, identity: None };
        if plain.works() {
            return Ok(plain);
        }
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let user = Namespace {
            flags: plain.flags | libc::CLONE_NEWUSER,
            identity: Some((format!("{uid} {uid} 1"), format!("{gid} {gid} 1"))),
        };
        if user.works() { Ok(user) } else { Err(io::Error::other("no PID namespace can be made here")) }
    }

    fn works(&self) -> bool {
        match self.fork() {
            Err(_) => false,
            Ok(0) => {
                let is_set_up = self.set_up().is_ok() && fs::read_link("/proc/self").is_ok();
                // SAFETY: ends the child alone.
                unsafe { libc::_exit(i32::from(!is_set_up)) }
            }
            Ok(child) => {
                let mut status = 0;
                // SAFETY: waits for the child just made; `status` is a live local.
                unsafe { libc::waitpid(child, &raw mut status, 0) };
                status == 0
            }
        }
    }

    /// Forks into the namespace: 0 in the child, which is its first process.
    pub(crate) fn fork(&self) -> io::Result<i32> {
        clone_vm::fork(self.flags, None)
    }

    /// In the first process: keeps the caller's identity and shows the namespace's own `/proc`.
    pub(crate) fn set_up(&self) -> io::Result<()> {
        // Its end is the end of all others, so it may go at once should the runner be killed.
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        if let Some((uids, gids)) = &self.identity {
            fs::write("/proc/self/setgroups", "deny")?;
            fs::write("/proc/self/gid_map", gids)?;
            fs::write("/proc/self/uid_map", uids)?;
        }
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        Ok(mount("proc", "/proc", "proc", flags, None)?)
    }
}
