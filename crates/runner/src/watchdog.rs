//! The watchdog: a second pair of eyes, should a command stop or kill the runner itself.
//!
//! A command runs as the same user and knows its parent, so it can stop the runner. A stopped runner sees neither an
//! order nor the end of its server; the watchdog, which no command is told of, does. When the server is gone it lets
//! the runner go on, and ends what the runner does not end in time. When the runner is gone it ends its groups.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, getppid, kill_process, pidfd_open};

use crate::channel::Channel;
use crate::{clone_vm, serve};

/// How often the runner is told to go on, and how many times before it is killed: a second in all.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
const REMINDERS: usize = 20;

/// A watchdog on duty; dismissed when dropped.
pub(crate) struct Watchdog(Option<Pid>);

impl Watchdog {
    /// Forks one that watches this process and the server behind `channel`. `cgroup` names everything to be ended.
    pub(crate) fn post(channel: &Channel, cgroup: Option<PathBuf>) -> io::Result<Self> {
        let watchdog = clone_vm::fork(0, None)?;
        if watchdog == 0 {
            let _ = watch(channel, cgroup);
            // SAFETY: ends the watchdog alone; the runner's own state is not dropped a second time.
            unsafe { libc::_exit(0) }
        }
        Ok(Watchdog(Pid::from_raw(watchdog)))
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            let _ = kill_process(pid, Signal::KILL);
            let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
        }
    }
}

fn watch(channel: &Channel, cgroup: Option<PathBuf>) -> io::Result<()> {
    let runner = getppid().ok_or(io::ErrorKind::NotFound)?;
    let handle = pidfd_open(runner, PidfdFlags::empty())?;
    serve::close_all_but(&[channel.as_fd(), handle.as_fd()]);
    let _ = rustix::process::setsid();
    let mut both = [PollFd::new(channel, PollFlags::RDHUP), PollFd::new(&handle, PollFlags::IN)];
    while poll(&mut both, None) == Err(rustix::io::Errno::INTR) {}
    let mut runner_gone = [PollFd::new(&handle, PollFlags::IN)];
    for _ in 0..REMINDERS {
        let _ = kill_process(runner, Signal::CONT);
        if poll(&mut runner_gone, Some(&PAUSE)).is_ok_and(|ready| ready > 0) {
            break;
        }
    }
    if let Some(cgroup) = cgroup {
        let _ = fs::write(cgroup.join("cgroup.kill"), "1");
    }
    let _ = kill_process(runner, Signal::KILL);
    Ok(())
}
