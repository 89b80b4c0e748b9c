//! Sessions that are confined, and those that are not, side by side.

use std::os::fd::OwnedFd;
use std::time::Duration;

use runward_model::wire::{Launch, Order, Report, Step};
use runward_model::{Abilities, Ending, SessionId, Signal, Usage};
use runward_sandbox::Namespaces;
use rustix::event::PollFd;

use crate::channel::Channel;
use crate::clone::Failure;
use crate::grouped::Group;
use crate::reap::Ended;
use crate::sandbox::{Needs, Pending, Sandbox, Stage};
use crate::sandboxes::Sandboxes;
use crate::serve::{Announced, Hold};

/// Another hold, and sandboxes for what belongs in one.
pub(crate) struct Confining<H> {
    abilities: Abilities,
    /// First: what it ends at last lies in groups of the other.
    sandboxes: Sandboxes,
    open: H,
}

impl<H> Confining<H> {
    pub(crate) fn new(open: H, abilities: Abilities, namespaces: Option<Namespaces>) -> Self {
        Confining { abilities, sandboxes: Sandboxes::new(namespaces), open }
    }
}

impl<H: Hold> Confining<H> {
    fn enclose(&mut self, pending: Pending) -> Result<(), Failure> {
        let launch = &pending.launch;
        let Some(fence) = launch.fence() else {
            return Err(Failure { step: Step::Confine, errno: libc::EINVAL });
        };
        let confined = |error| Failure::of(Step::Confine, &error);
        let needs = Needs::of(fence, launch.limits());
        if !self.sandboxes.has_free(&needs) {
            let group =
                self.open.group(*launch.limits()).map_err(|error| Failure::of(Step::Limit, &error))?;
            self.sandboxes.add(needs.clone(), group).map_err(confined)?;
        }
        self.sandboxes.run(&needs, pending).map_err(confined)
    }

    /// A sandbox has ended; what it was sent and had not started is tried in another, once.
    fn sandbox_ended(&mut self, sandbox: Sandbox, channel: &Channel) {
        let Sandbox { stage, group, pending, .. } = sandbox;
        let hit = group.as_ref().and_then(Group::hit);
        if let Some(group) = group {
            group.retire();
        }
        match (stage, pending) {
            (_, Some(pending)) => {
                let session = pending.session;
                let lost = Failure { step: Step::Confine, errno: libc::EIO };
                let tried =
                    if pending.again { self.enclose(Pending { again: false, ..pending }) } else { Err(lost) };
                if let Err(Failure { step, errno }) = tried {
                    channel.report(&Report::Failed { session, step, errno });
                }
            }
            (Stage::Busy { session, exited: true }, None) => {
                channel.report(&Report::Closed { session, ended: 0, survivors: Vec::new() });
            }
            (Stage::Busy { session, exited: false }, None) => {
                // The kernel ends a whole sandbox when it has run out of memory.
                let ending = hit.map_or(Ending::Lost, |_| Ending::Signaled(Signal::KILL));
                channel.report(&Report::Exited {
                    session,
                    ending,
                    usage: Usage::default(),
                    hit,
                    alone: true,
                });
            }
            _ => {}
        }
    }

    fn order(&mut self, session: SessionId, order: &Order) -> bool {
        let sandbox = self.sandboxes.of(session);
        sandbox.map(|sandbox| sandbox.order(order, &[])).is_some()
    }
}

impl<H: Announced> Announced for Confining<H> {
    fn ready(&self) -> Report {
        match self.open.ready() {
            Report::Ready { containment, cgroup, .. } => {
                Report::Ready { containment, cgroup, abilities: self.abilities.clone() }
            }
            other => other,
        }
    }

    fn is_out_of_sight(&self) -> bool {
        self.open.is_out_of_sight()
    }
}

impl<H: Hold> Hold for Confining<H> {
    fn spawn(
        &mut self,
        session: SessionId,
        launch: &Launch,
        fds: Vec<OwnedFd>,
    ) -> Result<Option<i32>, Failure> {
        match launch.fence() {
            Some(fence) if fence.tier.has_namespaces() => {
                self.enclose(Pending { session, launch: launch.clone(), fds, again: true })?;
                Ok(None)
            }
            _ => self.open.spawn(session, launch, fds),
        }
    }

    fn signal(&mut self, session: SessionId, signal: Signal) {
        if !self.order(session, &Order::Signal { session, signal }) {
            self.open.signal(session, signal);
        }
    }

    fn signal_group(&mut self, session: SessionId, signal: Signal) {
        if !self.order(session, &Order::SignalGroup { session, signal }) {
            self.open.signal_group(session, signal);
        }
    }

    fn close(&mut self, session: SessionId, channel: &Channel) {
        if !self.order(session, &Order::Close { session }) {
            self.open.close(session, channel);
        }
    }

    fn child_ended(&mut self, ended: &Ended, channel: &Channel) {
        match self.sandboxes.take(ended.pid, channel) {
            Some(sandbox) => self.sandbox_ended(sandbox, channel),
            None => self.open.child_ended(ended, channel),
        }
    }

    fn child_stopped(&mut self, pid: i32) {
        self.open.child_stopped(pid);
    }

    fn settled(&mut self, alive: bool, channel: &Channel) {
        self.sandboxes.settle(channel);
        self.open.settled(alive, channel);
    }

    fn watched(&self) -> Vec<PollFd<'_>> {
        self.open.watched().into_iter().chain(self.sandboxes.watched()).collect()
    }

    fn alarm(&self) -> Option<Duration> {
        self.sandboxes.alarm()
    }

    fn is_closing(&self) -> bool {
        self.open.is_closing()
    }

    fn is_finished(&self) -> bool {
        self.open.is_finished()
    }
}
