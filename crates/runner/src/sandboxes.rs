//! The sandboxes of a runner: made when needed, kept for a while, used for one command at a time.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use runward_model::wire::{Launch, Order, Report};
use runward_model::{Ending, SessionId, Usage};
use runward_sandbox::{Namespaces, Placeholders};
use rustix::event::{PollFd, PollFlags};

use crate::channel::Channel;
use crate::grouped::Group;
use crate::procfs;
use crate::sandbox::{Needs, Sandbox, Stage};

/// How long placeholders outlive a command: the next one often follows at once.
const LINGER: Duration = Duration::from_millis(300);

/// More than this many sandboxes do not wait at the same time.
const MAX_IDLE: usize = 16;

/// All sandboxes, and what stands in for missing files.
pub(crate) struct Sandboxes {
    namespaces: Option<Namespaces>,
    all: Vec<Sandbox>,
    placeholders: Placeholders,
    /// Groups of sandboxes that are gone.
    pub(crate) left: Vec<Group>,
}

impl Sandboxes {
    pub(crate) fn new(namespaces: Option<Namespaces>) -> Self {
        Sandboxes { namespaces, all: Vec::new(), placeholders: Placeholders::default(), left: Vec::new() }
    }

    /// Whether one waits for a command with these needs.
    pub(crate) fn has_idle(&self, needs: &Needs) -> bool {
        self.idle(needs).is_some()
    }

    fn idle(&self, needs: &Needs) -> Option<usize> {
        self.all.iter().position(|one| matches!(one.stage, Stage::Idle(_)) && one.needs == *needs)
    }

    /// Makes another; it waits for a command at once.
    pub(crate) fn add(&mut self, needs: Needs, group: Option<Group>) -> io::Result<()> {
        let namespaces =
            self.namespaces.as_ref().ok_or_else(|| io::Error::from_raw_os_error(libc::ENOSYS))?;
        let mut sandbox = Sandbox::start(needs, namespaces, group)?;
        sandbox.stage = Stage::Idle(Instant::now());
        self.all.push(sandbox);
        Ok(())
    }

    /// Has a waiting sandbox run a command.
    pub(crate) fn run(
        &mut self,
        session: SessionId,
        needs: &Needs,
        launch: Launch,
        fds: &[OwnedFd],
    ) -> io::Result<()> {
        let missing = || io::Error::from_raw_os_error(libc::ENOENT);
        let place = self.idle(needs).ok_or_else(missing)?;
        let sandbox = self.all.get_mut(place).ok_or_else(missing)?;
        let mut fence = launch.fence().cloned().ok_or_else(missing)?;
        if sandbox.placeholders.is_empty() {
            sandbox.placeholders = self.placeholders.place(&fence)?;
            fence.placeholders.clone_from(&sandbox.placeholders);
        }
        let left = sandbox.group.as_ref().map_or(*launch.limits(), |group| group.left);
        let launch = launch.fenced(Some(fence)).limited(left);
        sandbox.stage = Stage::Busy { session, exited: false };
        sandbox.order(&Order::Spawn { session, launch }, fds)
    }

    /// The sandbox that a session runs in.
    pub(crate) fn of(&mut self, session: SessionId) -> Option<&mut Sandbox> {
        self.all.iter_mut().find(|sandbox| sandbox.session() == Some(session))
    }

    /// Passes on what wardens have reported, and lets go of what has waited too long.
    pub(crate) fn settle(&mut self, channel: &Channel) {
        for sandbox in &mut self.all {
            relay(sandbox, channel);
        }
        let now = Instant::now();
        for sandbox in &mut self.all {
            let Stage::Idle(since) = sandbox.stage else { continue };
            if now.duration_since(since) >= LINGER {
                self.placeholders.remove(&std::mem::take(&mut sandbox.placeholders));
            }
        }
        let idle = self.all.iter().filter(|one| matches!(one.stage, Stage::Idle(_))).count();
        let mut surplus = idle.saturating_sub(MAX_IDLE);
        for sandbox in &self.all {
            let Stage::Idle(since) = sandbox.stage else { continue };
            if surplus > 0 || now.duration_since(since) >= sandbox.needs.fence().keep {
                surplus = surplus.saturating_sub(1);
                sandbox.kill();
            }
        }
    }

    /// A child of the runner has ended; whether it was a warden.
    pub(crate) fn warden_ended(&mut self, pid: i32, channel: &Channel) -> bool {
        let Some(place) = self.all.iter().position(|sandbox| sandbox.warden == pid) else { return false };
        let mut sandbox = self.all.swap_remove(place);
        relay(&mut sandbox, channel);
        if let Stage::Busy { session, exited } = sandbox.stage {
            let (ending, usage) = (Ending::Lost, Usage::default());
            channel.report(&if exited {
                Report::Closed { session, ended: 0, survivors: Vec::new() }
            } else {
                Report::Exited { session, ending, usage, hit: None, alone: true }
            });
        }
        self.placeholders.remove(&sandbox.placeholders);
        self.left.extend(sandbox.group.take());
        true
    }

    /// What wakes the runner.
    pub(crate) fn watched(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.all.iter().map(|sandbox| PollFd::new(sandbox.socket(), PollFlags::IN))
    }

    /// When something will have waited for long enough.
    pub(crate) fn alarm(&self) -> Option<Duration> {
        let now = Instant::now();
        let due = |sandbox: &Sandbox| {
            let Stage::Idle(since) = sandbox.stage else { return None };
            let keep = sandbox.needs.fence().keep;
            let first = if sandbox.placeholders.is_empty() { keep } else { keep.min(LINGER) };
            Some((since + first).saturating_duration_since(now))
        };
        self.all.iter().filter_map(due).min()
    }
}

fn relay(sandbox: &mut Sandbox, channel: &Channel) {
    for report in sandbox.reports() {
        match report {
            Report::Ready { .. } => {
                let used_up = sandbox.group.as_ref().is_some_and(|group| group.hit().is_some());
                if used_up {
                    sandbox.kill();
                } else {
                    sandbox.stage = Stage::Idle(Instant::now());
                }
            }
            Report::Started { session, .. } => {
                // The warden knows its child by another number.
                let pid = procfs::children(sandbox.warden).first().copied().unwrap_or(sandbox.warden);
                channel.report(&Report::Started { session, pid });
            }
            Report::Exited { session, ending, usage, hit, alone } => {
                let hit = sandbox.group.as_ref().and_then(Group::hit).or(hit);
                channel.report(&Report::Exited { session, ending, usage, hit, alone });
                sandbox.stage = if alone { Stage::Cleaning } else { Stage::Busy { session, exited: true } };
            }
            last @ (Report::Closed { .. } | Report::Failed { .. }) => {
                channel.report(&last);
                sandbox.stage = Stage::Cleaning;
            }
        }
    }
}

impl Drop for Sandboxes {
    /// Ends everything at once, then waits until it is gone.
    fn drop(&mut self) {
        self.all.iter().for_each(Sandbox::kill);
        for sandbox in &self.all {
            // SAFETY: waits for a child of this process; the status is of no interest.
            unsafe { libc::waitpid(sandbox.warden, std::ptr::null_mut(), 0) };
        }
    }
}
