//! The loop: orders in, reports out, children reaped.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use runward_model::wire::{Launch, Order, Report};
use runward_model::{Containment, Limits, SessionId, Signal, Tier};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use crate::cgroup::Cgroups;
use crate::cgroup_sessions::{CgroupSessions, Group};
use crate::channel::Channel;
use crate::clone::Failure;
use crate::confining::Confining;
use crate::keeper_sessions::KeeperSessions;
use crate::oom;
use crate::reap::{self, Children, Ended};
use crate::seen;
use crate::signals::ChildSignal;
use crate::waiting;
use crate::watchdog::Watchdog;

/// How often a loop that waits for killed processes looks again, should nobody tell it.
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// Sessions that one process holds together, in its own way.
pub(crate) trait Sessions {
    /// Starts a session and returns its first process, which the loop reports; `None` when a report follows later.
    fn spawn(
        &mut self,
        session: SessionId,
        launch: Launch,
        fds: Vec<OwnedFd>,
        channel: &Channel,
    ) -> Result<Option<i32>, Failure>;
    /// A session's first process, as this process sees it, while it lives.
    fn first(&self, _session: SessionId) -> Option<i32> {
        None
    }
    /// Every process of a session, as this process sees them.
    fn members(&self, _session: SessionId) -> Vec<i32> {
        Vec::new()
    }
    /// Signals every process of a session.
    fn signal(&mut self, session: SessionId, signal: Signal);
    /// Signals the process group of a session's first process.
    fn signal_group(&mut self, session: SessionId, signal: Signal);
    /// Begins to end what is left of a session.
    fn close(&mut self, session: SessionId, channel: &Channel);
    /// A child of this process has ended and been reaped.
    fn child_ended(&mut self, ended: &Ended, channel: &Channel);
    /// A child of this process was stopped. What a command does to itself is its own business.
    fn child_stopped(&mut self, _pid: i32) {}
    /// Everything reaped so far has been told; `alive` says whether this process has any child left.
    fn settled(&mut self, alive: bool, channel: &Channel);
    /// When the loop should look again, should nothing happen before.
    fn alarm(&self) -> Option<Duration> {
        None
    }
    /// A group for a whole sandbox, where one can be had: it takes limits, and tells whose sockets are of commands.
    fn group(&mut self, _limits: Limits) -> io::Result<Option<Group>> {
        Ok(None)
    }
    /// No command will run in a workspace any more.
    fn leave(&mut self, _workspace: u64, _channel: &Channel) {}
    /// What else the loop should wake for.
    fn watched(&self) -> Vec<PollFd<'_>> {
        Vec::new()
    }
    /// Whether something is being ended right now.
    fn is_closing(&self) -> bool;
    /// Whether there is nothing more to do, ever.
    fn is_finished(&self) -> bool;
}

/// Runs the runner on descriptor 0 until that ends.
pub(crate) fn run(wanted: Option<Containment>, strongest: Tier) -> io::Result<()> {
    // Until the watchdog stands, nobody else would end a runner that is stopped and whose server is gone.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let channel = Channel::to_server(take_stdin()?);
    close_all_but(&[channel.as_fd()]);
    oom::prepare();
    let _ = rustix::process::setsid();
    rustix::process::chdir("/")?;
    rustix::process::set_child_subreaper(Pid::from_raw(1))?;
    let children = ChildSignal::take_over()?;
    let (abilities, namespaces) = runward_sandbox::probe(strongest);
    if matches!(wanted, None | Some(Containment::Cgroup)) {
        match Cgroups::try_here() {
            Ok(cgroups) => {
                let sessions = Confining::new(CgroupSessions::new(cgroups), abilities, namespaces);
                return announce_and_serve(channel, &children, sessions);
            }
            Err(error) if wanted.is_some() => return Err(error),
            Err(_) => {}
        }
    }
    let keepers = KeeperSessions::strongest(wanted)?;
    announce_and_serve(channel, &children, Confining::new(keepers, abilities, namespaces))
}

/// The [`Sessions`] that a runner begins with.
pub(crate) trait Announced: Sessions {
    /// What holds them together, and where.
    fn ready(&self) -> Report;
    /// Whether commands cannot see the runner's process.
    fn is_out_of_sight(&self) -> bool;
}

fn announce_and_serve(
    mut channel: Channel,
    children: &ChildSignal,
    mut sessions: impl Announced,
) -> io::Result<()> {
    // What one command is given is none of another's business. Inside a namespace commands do not see the runner,
    // and its keepers have to write files of their own that this would take from them.
    if !sessions.is_out_of_sight() {
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    }
    let ready = sessions.ready();
    let cgroup = match &ready {
        Report::Ready { cgroup, .. } => cgroup.as_ref().map(Into::into),
        _ => None,
    };
    let _watchdog = Watchdog::post(&channel, cgroup)?;
    let _ = rustix::process::set_parent_process_death_signal(None);
    channel.report(&ready);
    let served = serve(&mut channel, children, &mut sessions);
    // The watchdog stays until everything is ended.
    drop(sessions);
    served
}

/// Obeys until the channel ends or the sessions are finished. Dropping them then ends what is left.
pub(crate) fn serve(
    channel: &mut Channel,
    children: &ChildSignal,
    sessions: &mut impl Sessions,
) -> io::Result<()> {
    while !sessions.is_finished() {
        let (orders, changed) = wait(channel, children, sessions)?;
        if changed {
            children.clear();
            reap_all(sessions, channel);
        }
        if orders {
            if !channel.fill()? {
                return Ok(());
            }
            while let Some((order, fds)) = channel.next()? {
                obey(order, fds, sessions, channel);
            }
        }
    }
    Ok(())
}

/// Sleeps until there is something to do: whether there are orders, and whether any process may have ended.
fn wait(channel: &Channel, children: &ChildSignal, sessions: &impl Sessions) -> io::Result<(bool, bool)> {
    let mut fds = vec![PollFd::new(channel, PollFlags::IN), PollFd::new(children, PollFlags::IN)];
    fds.extend(sessions.watched());
    let timeout = if sessions.is_closing() { Some(LOOK_AGAIN) } else { sessions.alarm().and_then(later) };
    let rung = match poll(&mut fds, timeout.as_ref()) {
        Ok(ready) => ready == 0,
        Err(rustix::io::Errno::INTR) => false,
        Err(error) => return Err(error.into()),
    };
    let ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
    let orders = fds.first().is_some_and(ready);
    let changed = rung || sessions.is_closing() || fds.iter().skip(1).any(ready);
    Ok((orders, changed))
}

/// A moment later, so that whoever waits for a time finds it over.
fn later(alarm: Duration) -> Option<Timespec> {
    Timespec::try_from(alarm + Duration::from_millis(1)).ok()
}

fn reap_all(sessions: &mut impl Sessions, channel: &Channel) {
    let alive = loop {
        match reap::next() {
            Children::Ended(ended) => sessions.child_ended(&ended, channel),
            Children::Stopped(pid) => sessions.child_stopped(pid),
            Children::Alive => break true,
            Children::Gone => break false,
        }
    };
    sessions.settled(alive, channel);
}

fn obey(order: Order, fds: Vec<OwnedFd>, sessions: &mut impl Sessions, channel: &Channel) {
    match order {
        Order::Spawn { session, launch } => match sessions.spawn(session, launch, fds, channel) {
            Ok(Some(pid)) => channel.report(&Report::Started { session, pid }),
            Ok(None) => {}
            Err(Failure { step, errno }) => channel.report(&Report::Failed { session, step, errno }),
        },
        Order::Signal { session, signal } => sessions.signal(session, signal),
        Order::SignalGroup { session, signal } => sessions.signal_group(session, signal),
        Order::Probe { session } => {
            let waits_for_input = sessions.first(session).is_some_and(waiting::for_input);
            channel.report(&Report::Probed { session, waits_for_input });
        }
        Order::Look { session, file } => {
            let seen = seen::of(&sessions.members(session), file.as_deref());
            channel.report(&Report::Seen { session, seen });
        }
        Order::Close { session } => sessions.close(session, channel),
        Order::Leave { workspace } => sessions.leave(workspace, channel),
    }
}

/// Moves descriptor 0 out of the children's way and leaves `/dev/null` there.
fn take_stdin() -> io::Result<OwnedFd> {
    let stdin = rustix::stdio::stdin();
    let socket = rustix::io::fcntl_dupfd_cloexec(stdin, 3)?;
    silence_stdin()?;
    Ok(socket)
}

/// Puts `/dev/null` in place of descriptor 0.
pub(crate) fn silence_stdin() -> io::Result<()> {
    let null = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty())?;
    Ok(rustix::stdio::dup2_stdin(&null)?)
}

/// Closes every descriptor above 2 that is not named: whoever started the server may have left some open.
pub(crate) fn close_all_but(kept: &[BorrowedFd<'_>]) {
    use std::os::fd::AsRawFd;
    let mut kept: Vec<u32> = kept.iter().filter_map(|fd| u32::try_from(fd.as_raw_fd()).ok()).collect();
    kept.sort_unstable();
    let mut from = 3;
    for fd in kept {
        if fd > from {
            close_range(from, fd - 1);
        }
        from = from.max(fd + 1);
    }
    close_range(from, u32::MAX);
}

fn close_range(first: u32, last: u32) {
    // SAFETY: called before these descriptors have owners in this process, or in a fresh fork whose copies of the
    // owners are never dropped.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
}

/// Sends a signal to the process group that a session's first process leads.
pub(crate) fn send_to_group(leader: i32, signal: Signal) {
    // SAFETY: sends a signal; the leader is positive and not yet reaped, so the group is the session's own.
    unsafe {
        if leader > 1 {
            libc::kill(-leader, signal.0);
        }
    }
}

/// Sends a signal to one process, and lets it see the signal should it be stopped.
pub(crate) fn send(pid: i32, signal: Signal) {
    // SAFETY: sends a signal; `pid` is positive, so it names one process.
    unsafe {
        if pid > 0 {
            libc::kill(pid, signal.0);
            libc::kill(pid, libc::SIGCONT);
        }
    }
}
