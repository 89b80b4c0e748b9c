//! The sandboxes of a runner: made when needed, kept for a while, used for one command at a time.

use std::io;
use std::time::{Duration, Instant};

use runward_model::SessionId;
use runward_model::wire::{Order, Report, Step};
use runward_sandbox::{Namespaces, Placeholders};
use rustix::event::{PollFd, PollFlags};

use crate::channel::Channel;
use crate::grouped::Group;
use crate::procfs;
use crate::sandbox::{Needs, Pending, Sandbox, Stage};

/// How long placeholders outlive a command: the next one often follows at once.
const LINGER: Duration = Duration::from_millis(300);

/// An older sandbox is not used again: the host has changed since, and other services listen.
const MAX_AGE: Duration = Duration::from_mins(1);

/// More than this many sandboxes do not wait at the same time.
const MAX_IDLE: usize = 32;

/// All sandboxes, and what stands in for missing files.
pub(crate) struct Sandboxes {
    namespaces: Option<Namespaces>,
    all: Vec<Sandbox>,
    placeholders: Placeholders,
}

impl Sandboxes {
    pub(crate) fn new(namespaces: Option<Namespaces>) -> Self {
        Sandboxes { namespaces, all: Vec::new(), placeholders: Placeholders::default() }
    }

    /// Whether one is free for a command with these needs.
    pub(crate) fn has_free(&self, needs: &Needs) -> bool {
        self.free(needs).is_some()
    }

    /// One that waits, else one that will in a moment.
    fn free(&self, needs: &Needs) -> Option<usize> {
        let fits = |one: &Sandbox| one.is_free() && one.needs == *needs && one.built.elapsed() < MAX_AGE;
        let idle = |one: &Sandbox| matches!(one.stage, Stage::Idle(_)) && fits(one);
        self.all.iter().position(idle).or_else(|| self.all.iter().position(fits))
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

    /// Has a free sandbox run a command.
    pub(crate) fn run(&mut self, needs: &Needs, pending: Pending) -> io::Result<()> {
        let missing = || io::Error::from_raw_os_error(libc::ENOENT);
        let place = self.free(needs).ok_or_else(missing)?;
        let Pending { session, launch, .. } = &pending;
        let session = *session;
        let sandbox = self.all.get_mut(place).ok_or_else(missing)?;
        let mut fence = launch.fence().cloned().ok_or_else(missing)?;
        if sandbox.placeholders.is_empty() {
            sandbox.placeholders = self.placeholders.place(&fence)?;
            fence.placeholders.clone_from(&sandbox.placeholders);
        }
        let left = sandbox.group.as_ref().map_or(*launch.limits(), |group| group.left);
        let launch = launch.clone().fenced(Some(fence)).limited(left);
        sandbox.stage = Stage::Busy { session, exited: false };
        match sandbox.order(&Order::Spawn { session, launch }, &pending.fds) {
            Err(error) if !is_gone(&error) => return Err(error),
            // A warden that has just ended is about to be reaped; what waits for it is then tried in another.
            Ok(()) | Err(_) => sandbox.pending = Some(pending),
        }
        Ok(())
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
        for sandbox in &mut self.all {
            let Stage::Idle(since) = sandbox.stage else { continue };
            let too_old = sandbox.built.elapsed() >= MAX_AGE;
            if surplus > 0 || too_old || now.duration_since(since) >= sandbox.needs.fence().keep {
                surplus = surplus.saturating_sub(1);
                sandbox.kill();
            }
        }
    }

    /// Takes away the sandbox whose warden has ended, if it is one of them.
    pub(crate) fn take(&mut self, warden: i32, channel: &Channel) -> Option<Sandbox> {
        let place = self.all.iter().position(|sandbox| sandbox.warden == warden)?;
        let mut sandbox = self.all.swap_remove(place);
        relay(&mut sandbox, channel);
        self.placeholders.remove(&sandbox.placeholders);
        Some(sandbox)
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

/// Whether nobody is at the other end any more.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

fn relay(sandbox: &mut Sandbox, channel: &Channel) {
    for report in sandbox.reports() {
        match report {
            // One that has been sent the next command is not idle.
            Report::Ready { .. } if sandbox.stage != Stage::Cleaning => {}
            Report::Ready { .. } if !sandbox.is_free() => sandbox.kill(),
            Report::Ready { .. } => sandbox.stage = Stage::Idle(Instant::now()),
            Report::Started { session, .. } => {
                sandbox.pending = None;
                // The warden knows its child by another number.
                let pid = procfs::children(sandbox.warden).first().copied().unwrap_or(sandbox.warden);
                channel.report(&Report::Started { session, pid });
            }
            Report::Exited { session, ending, usage, hit, alone } => {
                let hit = sandbox.group.as_ref().and_then(Group::hit).or(hit);
                channel.report(&Report::Exited { session, ending, usage, hit, alone });
                sandbox.stage = if alone { Stage::Cleaning } else { Stage::Busy { session, exited: true } };
            }
            // What an earlier command has left may be the reason: another sandbox is tried, once.
            Report::Failed { step: Step::Cwd | Step::Confine, .. } if sandbox.may_try_again() => {
                sandbox.kill();
            }
            last @ (Report::Closed { .. } | Report::Failed { .. }) => {
                channel.report(&last);
                sandbox.pending = None;
                sandbox.stage = Stage::Cleaning;
            }
        }
    }
}

impl Drop for Sandboxes {
    /// Ends everything at once, then waits until it is gone.
    fn drop(&mut self) {
        self.all.iter_mut().for_each(Sandbox::kill);
        for sandbox in &self.all {
            // SAFETY: waits for a child of this process; the status is of no interest.
            unsafe { libc::waitpid(sandbox.warden, std::ptr::null_mut(), 0) };
        }
    }
}
