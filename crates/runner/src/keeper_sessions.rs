//! Sessions held by keepers, in PID namespaces where they can be made.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use runward_model::wire::{self, Launch, Order, Report, Step};
use runward_model::{Abilities, Containment, Ending, SessionId, Signal, Usage};
use rustix::event::{PollFd, PollFlags};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair};
use rustix::process::{Pid, kill_process};

use crate::channel::Channel;
use crate::clone::Failure;
use crate::clone_vm;
use crate::keeper::Keeper;
use crate::namespace::Namespace;
use crate::oom;
use crate::procfs;
use crate::reap::Ended;
use crate::serve::{self, Announced, Sessions};
use crate::signals::ChildSignal;

/// Every session has a keeper process of its own, which is this process's child.
pub(crate) struct KeeperSessions {
    namespace: Option<Namespace>,
    sessions: HashMap<SessionId, KeeperSession>,
}

/// A session behind its keeper.
struct KeeperSession {
    keeper: i32,
    /// Its first process as it is called out here, once it runs.
    first: Option<i32>,
    socket: OwnedFd,
    bytes: Vec<u8>,
    exited: bool,
    /// Held back until the keeper itself is gone: only then is its namespace empty.
    closed: Option<Report>,
}

impl KeeperSessions {
    /// In namespaces when they work here, or as told.
    pub(crate) fn strongest(wanted: Option<Containment>) -> io::Result<Self> {
        let namespace = match wanted {
            Some(Containment::Keeper) => None,
            Some(_) => Some(Namespace::try_here()?),
            None => Namespace::try_here().ok(),
        };
        Ok(KeeperSessions { namespace, sessions: HashMap::new() })
    }

    fn start(&self, session: SessionId, launch: &Launch, fds: &[OwnedFd]) -> io::Result<KeeperSession> {
        let flags = SocketFlags::CLOEXEC;
        let (socket, far) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        let keeper = oom::expendable(|| match &self.namespace {
            Some(namespace) => namespace.fork(),
            None => clone_vm::fork(0, None),
        })?;
        if keeper == 0 {
            let kept: Vec<_> = fds.iter().map(AsFd::as_fd).chain([far.as_fd()]).collect();
            serve::close_all_but(&kept);
            let done = live(self.namespace.as_ref(), session, launch, fds, far);
            std::process::exit(i32::from(done.is_err()));
        }
        Ok(KeeperSession { keeper, first: None, socket, bytes: Vec::new(), exited: false, closed: None })
    }
}

/// The life of a keeper.
fn live(
    namespace: Option<&Namespace>,
    session: SessionId,
    launch: &Launch,
    fds: &[OwnedFd],
    far: OwnedFd,
) -> io::Result<()> {
    let mut channel = Channel::new(far);
    rustix::process::set_child_subreaper(rustix::process::Pid::from_raw(1))?;
    let children = ChildSignal::take_over()?;
    if let Some(namespace) = namespace
        && let Err(error) = namespace.set_up()
    {
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        channel.report(&Report::Failed { session, step: Step::Contain, errno });
        return Err(error);
    }
    let mut keeper = Keeper::begin(session, launch, fds, &channel);
    close_spawn_fds(fds);
    serve::serve(&mut channel, &children, &mut keeper)
}

/// The keeper must not hold its session's outputs open.
fn close_spawn_fds(fds: &[OwnedFd]) {
    use std::os::fd::AsRawFd;
    for fd in fds {
        // SAFETY: these are a fork's copies; their owners in this process are never dropped, since it exits.
        unsafe { libc::close(fd.as_raw_fd()) };
    }
}

impl KeeperSession {
    /// Passes on what the keeper has reported.
    fn relay(&mut self, channel: &Channel) {
        let mut chunk = [0; 4096];
        while let Ok((read @ 1.., _)) = recv(&self.socket, &mut chunk[..], RecvFlags::DONTWAIT) {
            self.bytes.extend_from_slice(chunk.get(..read).unwrap_or_default());
        }
        while let Ok(Some(report)) = wire::decode::<Report>(&mut self.bytes) {
            self.pass_on(report, channel);
        }
    }

    fn pass_on(&mut self, report: Report, channel: &Channel) {
        match report {
            Report::Closed { .. } => self.closed = Some(report),
            Report::Started { session, .. } => {
                // Inside a namespace the keeper knows its child by another number.
                let pid = procfs::children(self.keeper).first().copied().unwrap_or(self.keeper);
                self.first = Some(pid);
                channel.report(&Report::Started { session, pid });
            }
            Report::Probed { .. } | Report::Seen { .. } | Report::Held { .. } => {}
            Report::Ready { .. } | Report::Failed { .. } | Report::Exited { .. } => {
                self.first = None;
                self.exited = true;
                channel.report(&oom::told(report));
            }
        }
    }

    fn order(&self, order: &Order) {
        if let Ok(frame) = wire::encode(order) {
            let _ = send(&self.socket, &frame, SendFlags::NOSIGNAL);
        }
        self.resume();
    }

    /// A command can stop its keeper, which then obeys nobody.
    fn resume(&self) {
        if let Some(keeper) = Pid::from_raw(self.keeper) {
            let _ = kill_process(keeper, rustix::process::Signal::CONT);
        }
    }
}

impl Announced for KeeperSessions {
    fn ready(&self) -> Report {
        let containment = if self.namespace.is_some() { Containment::Namespace } else { Containment::Keeper };
        Report::Ready { containment, cgroup: None, abilities: Abilities::default() }
    }

    fn is_out_of_sight(&self) -> bool {
        self.namespace.is_some()
    }
}

impl Sessions for KeeperSessions {
    fn spawn(
        &mut self,
        session: SessionId,
        launch: Launch,
        fds: Vec<OwnedFd>,
        _channel: &Channel,
    ) -> Result<Option<i32>, Failure> {
        let started = self.start(session, &launch, &fds);
        let kept = started.map_err(|error| Failure::of(Step::Clone, &error))?;
        self.sessions.insert(session, kept);
        Ok(None)
    }

    fn first(&self, session: SessionId) -> Option<i32> {
        self.sessions.get(&session)?.first
    }

    fn members(&self, session: SessionId) -> Vec<i32> {
        self.sessions.get(&session).map_or_else(Vec::new, |kept| procfs::descendants(kept.keeper))
    }

    fn signal(&mut self, session: SessionId, signal: Signal) {
        if let Some(kept) = self.sessions.get(&session) {
            kept.order(&Order::Signal { session, signal });
        }
    }

    fn signal_group(&mut self, session: SessionId, signal: Signal) {
        if let Some(kept) = self.sessions.get(&session) {
            kept.order(&Order::SignalGroup { session, signal });
        }
    }

    fn close(&mut self, session: SessionId, _channel: &Channel) {
        if let Some(kept) = self.sessions.get(&session) {
            kept.order(&Order::Close { session });
        }
    }

    fn child_ended(&mut self, ended: &Ended, channel: &Channel) {
        let Some(session) =
            self.sessions.iter().find(|(_, kept)| kept.keeper == ended.pid).map(|(id, _)| *id)
        else {
            return;
        };
        let Some(mut kept) = self.sessions.remove(&session) else { return };
        kept.relay(channel);
        if !kept.exited {
            let (ending, usage) = (Ending::Lost, Usage::default());
            channel.report(&Report::Exited { session, ending, usage, hit: None, alone: true });
        }
        if let Some(closed) = kept.closed {
            channel.report(&closed);
        }
    }

    fn child_stopped(&mut self, pid: i32) {
        self.sessions.values().filter(|kept| kept.keeper == pid).for_each(KeeperSession::resume);
    }

    fn settled(&mut self, _alive: bool, channel: &Channel) {
        self.sessions.values_mut().for_each(|kept| kept.relay(channel));
    }

    fn watched(&self) -> Vec<PollFd<'_>> {
        self.sessions.values().map(|kept| PollFd::new(&kept.socket, PollFlags::IN)).collect()
    }

    fn is_closing(&self) -> bool {
        false
    }

    fn is_finished(&self) -> bool {
        false
    }
}

impl Drop for KeeperSessions {
    /// Lets go of every keeper and waits until each has ended its session and itself.
    fn drop(&mut self) {
        let keepers: Vec<i32> = self.sessions.values().map(|kept| kept.keeper).collect();
        for (_, kept) in self.sessions.drain() {
            kept.resume();
        }
        for keeper in keepers {
            // SAFETY: waits for a child of this process; the status is of no interest.
            unsafe { libc::waitpid(keeper, std::ptr::null_mut(), 0) };
        }
    }
}
