//! Containment by control groups (version 2, pure or hybrid): a group a session, kept and used again.
//!
//! Only `cgroup.kill` is needed, no controller, so any group that this process may make children in will do.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use runward_model::{Limits, Signal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;

use crate::meter::{Controllers, Meter};
use crate::{clone_vm, procfs};

/// How long the end of all groups is waited for when the runner itself ends: killed processes need a moment to go.
const LAST_WAIT: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// The runner's own group and the groups of its sessions below it.
pub(crate) struct Cgroups {
    base: PathBuf,
    events: OwnedFd,
    free: Vec<Slot>,
    /// Empty ones that are held to limits, which most commands have in common.
    limited: Vec<Limited>,
    made: u32,
    /// Tried when first needed.
    controllers: Option<Controllers>,
}

/// A group that is held to limits.
pub(crate) struct Limited {
    pub(crate) slot: Slot,
    pub(crate) meter: Meter,
    /// Those that no controller takes.
    pub(crate) left: Limits,
    limits: Limits,
}

/// One session's group.
pub(crate) struct Slot {
    path: PathBuf,
    directory: OwnedFd,
    procs: OwnedFd,
    kill: OwnedFd,
    events: OwnedFd,
}

impl Cgroups {
    /// Makes the runner's group and tries it with a real process; an error means that this host offers none.
    pub(crate) fn try_here() -> io::Result<Self> {
        let parent = own_group()?;
        let namespace = fs::metadata("/proc/self/ns/pid")?.ino();
        remove_stale(&parent, namespace);
        let base = parent.join(format!("runward-{namespace}-{}", std::process::id()));
        fs::create_dir(&base)?;
        let events = match open(&base.join("cgroup.events"), OFlags::RDONLY) {
            Ok(events) => events,
            Err(error) => {
                let _ = fs::remove_dir(&base);
                return Err(error);
            }
        };
        let mut cgroups =
            Cgroups { base, events, free: Vec::new(), limited: Vec::new(), made: 0, controllers: None };
        let slot = cgroups.take()?;
        slot.try_to_join()?;
        cgroups.give_back(slot);
        Ok(cgroups)
    }

    /// Where the groups are.
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// An empty group, used before or new.
    pub(crate) fn take(&mut self) -> io::Result<Slot> {
        if let Some(slot) = self.free.pop() {
            return Ok(slot);
        }
        let path = self.base.join(self.made.to_string());
        fs::create_dir(&path)?;
        self.made += 1;
        Slot::open(&path)
    }

    /// Takes back a group that is empty.
    pub(crate) fn give_back(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// An empty group that holds a session to `limits`, used before or new.
    pub(crate) fn take_limited(&mut self, limits: Limits) -> io::Result<Limited> {
        if let Some(place) = self.limited.iter().position(|one| one.limits == limits) {
            return Ok(self.limited.swap_remove(place));
        }
        let slot = self.take()?;
        if limits.memory.is_none() && limits.processes.is_none() {
            return Ok(Limited { slot, meter: Meter::default(), left: limits, limits });
        }
        let controllers = self.controllers.get_or_insert_with(|| Controllers::try_here(&self.base));
        let (meter, left) = controllers.apply(limits, &slot.path)?;
        Ok(Limited { slot, meter, left, limits })
    }

    /// Takes back one that is empty and was never killed. One that has run into a limit tells so for ever.
    pub(crate) fn give_back_limited(&mut self, limited: Limited) {
        if !limited.meter.is_in_use() {
            self.give_back(limited.slot);
        } else if limited.meter.hit().is_some() {
            limited.slot.retire();
        } else {
            self.limited.push(limited);
        }
    }
}

impl Drop for Cgroups {
    /// Kills whatever is left in any group, then removes them all.
    fn drop(&mut self) {
        let _ = fs::write(self.base.join("cgroup.kill"), "1");
        let mut waited = [PollFd::new(&self.events, PollFlags::PRI)];
        while is_populated(&self.events) && poll(&mut waited, Some(&LAST_WAIT)).is_ok_and(|ready| ready > 0) {
        }
        remove_tree(&self.base);
    }
}

impl Slot {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Slot {
            path: path.to_owned(),
            directory: open(path, OFlags::PATH)?,
            procs: open(&path.join("cgroup.procs"), OFlags::RDONLY)?,
            kill: open(&path.join("cgroup.kill"), OFlags::WRONLY)?,
            events: open(&path.join("cgroup.events"), OFlags::RDONLY)?,
        })
    }

    /// The directory that a new child is born into.
    pub(crate) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Polls with `PRI` when the group may have become empty.
    pub(crate) fn events(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }

    /// Whether nothing alive is in the group.
    pub(crate) fn is_empty(&self) -> bool {
        !is_populated(&self.events)
    }

    /// The processes in the group.
    pub(crate) fn members(&self) -> Vec<i32> {
        procfs::numbers(&read_from_start(&self.procs))
    }

    /// Sends `signal` to every member, and lets stopped ones see it.
    pub(crate) fn signal(&self, signal: Signal) {
        for member in self.members() {
            crate::serve::send(member, signal);
        }
    }

    /// Removes an empty group that carries limits.
    pub(crate) fn retire(self) {
        let _ = fs::remove_dir(&self.path);
    }

    /// Kills every member, those that are just being made included.
    pub(crate) fn kill(&self) {
        let _ = rustix::io::write(&self.kill, b"1");
    }

    /// Has a process of no consequence born here, as every session's first process will be.
    fn try_to_join(&self) -> io::Result<()> {
        let child = clone_vm::fork(0, Some(self.directory()))?;
        if child == 0 {
            // SAFETY: ends the child alone.
            unsafe { libc::_exit(0) }
        }
        let mut status = 0;
        // SAFETY: waits for the child just made; `status` is a live local.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        // Below a group that was ever killed, Linux kills whatever is born.
        if status == 0 {
            Ok(())
        } else {
            Err(io::Error::other("a process born into a new control group died"))
        }
    }
}

/// The directory of the group that this process is in.
pub(crate) fn own_group() -> io::Result<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    let mount = mounts.lines().find_map(cgroup2_mount).ok_or(io::ErrorKind::NotFound)?;
    let groups = fs::read_to_string("/proc/self/cgroup")?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/")).ok_or(io::ErrorKind::NotFound)?;
    let inside = mount.join(own);
    Ok(if inside.is_dir() { inside } else { mount })
}

/// The mount point of a `cgroup2` file system in a line of `mountinfo`.
fn cgroup2_mount(line: &str) -> Option<PathBuf> {
    let (mount, kind) = line.split_once(" - ")?;
    let point = mount.split(' ').nth(4)?;
    kind.starts_with("cgroup2 ").then(|| PathBuf::from(point))
}

/// Ends and removes the groups of runners that were killed before they could do so themselves.
fn remove_stale(parent: &Path, namespace: u64) {
    let prefix = format!("runward-{namespace}-");
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner =
            name.to_str().and_then(|name| name.strip_prefix(&prefix)).and_then(|pid| pid.parse().ok());
        let gone = owner
            .and_then(Pid::from_raw)
            .is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH));
        if gone {
            let _ = fs::write(entry.path().join("cgroup.kill"), "1");
            remove_tree(&entry.path());
        }
    }
}

fn remove_tree(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
    let _ = fs::remove_dir(base);
}

fn open(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty())?)
}

fn is_populated(events: &OwnedFd) -> bool {
    !read_from_start(events).contains("populated 0")
}

/// The whole text of a kernel file that is held open.
fn read_from_start(file: &OwnedFd) -> String {
    let mut text = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(read @ 1..) = rustix::io::pread(file, &mut chunk, text.len() as u64) {
        text.extend_from_slice(chunk.get(..read).unwrap_or_default());
    }
    String::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_mount_of_the_second_version_counts() {
        let line = |kind: &str| format!("30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - {kind} none rw");
        assert_eq!(cgroup2_mount(&line("cgroup2")), Some("/sys/fs/cgroup".into()));
        assert_eq!(cgroup2_mount(&line("cgroup")), None);
        assert_eq!(cgroup2_mount(&line("tmpfs")), None);
        assert_eq!(cgroup2_mount("no mount at all"), None);
    }
}
