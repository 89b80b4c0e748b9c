//! Sessions that are confined in sandboxes, and those that are not, side by side.

use std::os::fd::OwnedFd;
use std::time::Duration;

use runward_model::wire::{Launch, Order, Report};
use runward_model::{Abilities, SessionId, Signal};
use runward_sandbox::Namespaces;
use rustix::event::PollFd;

use crate::channel::Channel;
use crate::clone::Failure;
use crate::reap::Ended;
use crate::sandboxes::{Around, Sandboxes};
use crate::serve::{Announced, Sessions};

/// Sandboxes for what belongs in one, and another way of holding sessions together for the rest.
pub(crate) struct Confining<S> {
    abilities: Abilities,
    /// First, so dropped first: what it ends at last lies in groups of the other.
    sandboxes: Sandboxes,
    open: S,
}

impl<S> Confining<S> {
    pub(crate) fn new(open: S, abilities: Abilities, namespaces: Option<Namespaces>) -> Self {
        Confining { abilities, sandboxes: Sandboxes::new(namespaces), open }
    }
}

impl<S: Announced> Announced for Confining<S> {
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

impl<S: Sessions> Sessions for Confining<S> {
    fn spawn(
        &mut self,
        session: SessionId,
        launch: Launch,
        fds: Vec<OwnedFd>,
        channel: &Channel,
    ) -> Result<Option<i32>, Failure> {
        if launch.fence().is_some_and(|fence| fence.tier.has_namespaces()) {
            self.sandboxes.spawn(session, launch, fds, &mut Around { channel, rest: &mut self.open });
            return Ok(None);
        }
        self.open.spawn(session, launch, fds, channel)
    }

    fn first(&self, session: SessionId) -> Option<i32> {
        self.sandboxes.first(session).or_else(|| self.open.first(session))
    }

    fn members(&self, session: SessionId) -> Vec<i32> {
        if self.sandboxes.has(session) { self.sandboxes.members(session) } else { self.open.members(session) }
    }

    fn signal(&mut self, session: SessionId, signal: Signal) {
        if self.sandboxes.has(session) {
            self.sandboxes.pass_on(session, &Order::Signal { session, signal });
        } else {
            self.open.signal(session, signal);
        }
    }

    fn signal_group(&mut self, session: SessionId, signal: Signal) {
        if self.sandboxes.has(session) {
            self.sandboxes.pass_on(session, &Order::SignalGroup { session, signal });
        } else {
            self.open.signal_group(session, signal);
        }
    }

    fn close(&mut self, session: SessionId, channel: &Channel) {
        if self.sandboxes.has(session) {
            self.sandboxes.close(session, &mut Around { channel, rest: &mut self.open });
        } else {
            self.open.close(session, channel);
        }
    }

    fn leave(&mut self, workspace: u64, channel: &Channel) {
        self.sandboxes.leave(workspace, &mut Around { channel, rest: &mut self.open });
    }

    fn child_ended(&mut self, ended: &Ended, channel: &Channel) {
        if !self.sandboxes.child_ended(ended.pid, &mut Around { channel, rest: &mut self.open }) {
            self.open.child_ended(ended, channel);
        }
    }

    fn child_stopped(&mut self, pid: i32) {
        self.open.child_stopped(pid);
    }

    fn settled(&mut self, alive: bool, channel: &Channel) {
        self.sandboxes.settle(&mut Around { channel, rest: &mut self.open });
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
