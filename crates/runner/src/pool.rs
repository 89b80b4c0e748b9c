//! Which sandbox runs which command, and how long each is kept: a state machine without clock, process or descriptor.
//!
//! # Theory of operation
//!
//! [`Pool::step`] takes whatever happens, in any order, and returns what is to be done about it; `sandboxes.rs` does it. A
//! sandbox runs one command at a time and is cleaned after each, and only commands with the same [`Needs`] share one. What
//! an earlier command has left in a sandbox may be why the next one cannot start there, so a command that did not start
//! is tried in another one, once. Whoever asked gets one last report about each command, and none after it.

#[cfg(test)]
mod tests;

use std::rc::Rc;
use std::time::Duration;

use runward_model::wire::{Report, Step};
use runward_model::{Ending, LimitHit, SessionId, Signal, Usage};

use crate::clone::Failure;
use crate::needs::Needs;

/// An older sandbox is not used again: the host has changed since, and other services listen.
const MAX_AGE: Duration = Duration::from_mins(1);

/// More than this many sandboxes do not wait at the same time.
const MAX_IDLE: usize = 32;

/// Names a sandbox for as long as the runner lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SandboxId(u64);

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// A command is to run.
    Spawn { session: SessionId, needs: Rc<Needs> },
    /// A command is to be ended, which may not have started yet.
    Close { session: SessionId },
    /// A sandbox could not be built, or not be sent its command.
    Failed { sandbox: SandboxId, failure: Failure },
    /// A sandbox has reported; `spent` says that its group has run into a limit, so that it cannot serve another command.
    Reported { sandbox: SandboxId, report: Report, spent: bool },
    /// A sandbox is gone, with all its processes. `hit` is the limit that its group ran into.
    Ended { sandbox: SandboxId, hit: Option<LimitHit> },
    /// No command will run in this workspace any more.
    Left { workspace: u64 },
    /// Time has passed.
    Tick,
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Build a sandbox. Should that fail, [`Input::Failed`] follows.
    Build { sandbox: SandboxId, needs: Rc<Needs> },
    /// Send a command to a sandbox, which may still clean up: it comes to it then.
    Send { sandbox: SandboxId, session: SessionId },
    /// Let go of a command's launch and descriptors: nobody reads its pipes but the server, and it is not tried again.
    Release { session: SessionId },
    /// Tell a sandbox to end its command.
    Close { sandbox: SandboxId, session: SessionId },
    /// End a sandbox and everything in it. [`Input::Ended`] follows.
    Kill { sandbox: SandboxId },
    /// Tell whoever asked.
    Report(Report),
}

/// What a sandbox is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Waits for a command, since then.
    Idle { since: Duration },
    /// Is being cleaned up. The next command may be sent already.
    Cleaning,
    /// Was sent a command that has not started yet; `again` says whether it may be tried elsewhere.
    Sent { session: SessionId, again: bool },
    /// The first process of its command runs; this is its number outside.
    Running { session: SessionId, pid: i32 },
    /// That one has ended, others have not.
    Exited { session: SessionId },
    /// Is being ended; its command, which has not started, is then tried elsewhere.
    Ending { retry: Option<SessionId> },
}

#[derive(Debug)]
struct Sandbox {
    id: SandboxId,
    needs: Rc<Needs>,
    stage: Stage,
    /// What listens on the host is covered as it was then.
    built: Duration,
    /// Whether nothing runs in it after the command that it has.
    is_last: bool,
}

/// All sandboxes of a runner.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    sandboxes: Vec<Sandbox>,
    made: u64,
}

impl Pool {
    /// Takes one input, `now` after the runner's start; total: any input may come at any time.
    pub(crate) fn step(&mut self, now: Duration, input: Input) -> Vec<Effect> {
        match input {
            Input::Spawn { session, needs } => self.spawn(now, session, needs, true),
            Input::Close { session } => self.close(session),
            Input::Failed { sandbox, failure } => self.failed(sandbox, failure),
            Input::Reported { sandbox, report, spent } => {
                self.get(sandbox).map_or_else(Vec::new, |sandbox| sandbox.reported(now, report, spent))
            }
            Input::Ended { sandbox, hit } => self.ended(now, sandbox, hit),
            Input::Left { workspace } => self.left(workspace),
            Input::Tick => self.tick(now),
        }
    }

    /// The sandbox that a session runs in, or will.
    pub(crate) fn of(&self, session: SessionId) -> Option<SandboxId> {
        self.sandboxes.iter().find(|sandbox| sandbox.session() == Some(session)).map(|sandbox| sandbox.id)
    }

    /// The first process of a session, while it runs.
    pub(crate) fn first(&self, wanted: SessionId) -> Option<i32> {
        self.sandboxes.iter().find_map(|sandbox| match sandbox.stage {
            Stage::Running { session, pid } if session == wanted => Some(pid),
            _ => None,
        })
    }

    /// How long [`Input::Tick`] would change nothing.
    pub(crate) fn alarm(&self, now: Duration) -> Option<Duration> {
        self.sandboxes.iter().filter_map(Sandbox::due).min().map(|due| due.saturating_sub(now))
    }

    fn get(&mut self, id: SandboxId) -> Option<&mut Sandbox> {
        self.sandboxes.iter_mut().find(|sandbox| sandbox.id == id)
    }

    /// Into a sandbox that waits, else into one that will in a moment, else into a new one.
    fn spawn(&mut self, now: Duration, session: SessionId, needs: Rc<Needs>, again: bool) -> Vec<Effect> {
        let fits = |one: &&mut Sandbox| {
            one.needs == needs && !one.is_last && now.saturating_sub(one.built) < MAX_AGE
        };
        let free = self.sandboxes.iter_mut().filter(fits).filter(|one| one.is_free());
        if let Some(sandbox) = free.min_by_key(|one| one.stage == Stage::Cleaning) {
            sandbox.stage = Stage::Sent { session, again };
            return vec![Effect::Send { sandbox: sandbox.id, session }];
        }
        let id = SandboxId(self.made);
        self.made += 1;
        let stage = Stage::Sent { session, again };
        // Nobody else may find what a command leaves that shares nothing.
        let is_last = needs.fence().workspace.is_none();
        self.sandboxes.push(Sandbox { id, needs: needs.clone(), stage, built: now, is_last });
        vec![Effect::Build { sandbox: id, needs }, Effect::Send { sandbox: id, session }]
    }

    /// A command that has not started must not do so later, in another sandbox.
    fn close(&mut self, session: SessionId) -> Vec<Effect> {
        let Some(sandbox) = self.sandboxes.iter_mut().find(|one| one.session() == Some(session)) else {
            return Vec::new();
        };
        match &mut sandbox.stage {
            Stage::Ending { retry } => {
                *retry = None;
                not_started(session, Failure { step: Step::Confine, errno: libc::ECANCELED })
            }
            stage => {
                if let Stage::Sent { again, .. } = stage {
                    *again = false;
                }
                vec![Effect::Close { sandbox: sandbox.id, session }]
            }
        }
    }

    /// Nobody knows what state it is in, so it is not used again.
    fn failed(&mut self, id: SandboxId, failure: Failure) -> Vec<Effect> {
        let Some(sandbox) = self.get(id) else { return Vec::new() };
        let Stage::Sent { session, .. } = sandbox.stage else { return Vec::new() };
        let mut effects = sandbox.kill(None);
        effects.extend(not_started(session, failure));
        effects
    }

    fn ended(&mut self, now: Duration, id: SandboxId, hit: Option<LimitHit>) -> Vec<Effect> {
        let Some(place) = self.sandboxes.iter().position(|sandbox| sandbox.id == id) else {
            return Vec::new();
        };
        let Sandbox { stage, needs, .. } = self.sandboxes.swap_remove(place);
        match stage {
            Stage::Sent { session, again: true } | Stage::Ending { retry: Some(session) } => {
                self.spawn(now, session, needs, false)
            }
            Stage::Sent { session, again: false } => {
                not_started(session, Failure { step: Step::Confine, errno: libc::EIO })
            }
            Stage::Exited { session } => {
                vec![Effect::Report(Report::Closed { session, ended: 0, survivors: Vec::new() })]
            }
            Stage::Running { session, .. } => {
                // The kernel ends a whole sandbox when it has run out of memory.
                let ending = hit.map_or(Ending::Lost, |_| Ending::Signaled(Signal::KILL));
                let usage = Usage::default();
                vec![Effect::Report(Report::Exited { session, ending, usage, hit, alone: true })]
            }
            Stage::Idle { .. } | Stage::Cleaning | Stage::Ending { retry: None } => Vec::new(),
        }
    }

    fn left(&mut self, workspace: u64) -> Vec<Effect> {
        let its = self.sandboxes.iter_mut().filter(|one| one.needs.fence().workspace == Some(workspace));
        let mut effects = Vec::new();
        for sandbox in its {
            sandbox.is_last = true;
            if sandbox.is_free() {
                effects.extend(sandbox.kill(None));
            }
        }
        effects
    }

    fn tick(&mut self, now: Duration) -> Vec<Effect> {
        let idle = self.sandboxes.iter().filter(|sandbox| sandbox.idle_since().is_some()).count();
        let mut surplus = idle.saturating_sub(MAX_IDLE);
        let mut effects = Vec::new();
        for sandbox in &mut self.sandboxes {
            let Some(since) = sandbox.idle_since() else { continue };
            let (age, idle) = (now.saturating_sub(sandbox.built), now.saturating_sub(since));
            if surplus > 0 || age >= MAX_AGE || idle >= sandbox.needs.keep() {
                surplus = surplus.saturating_sub(1);
                effects.extend(sandbox.kill(None));
            }
        }
        effects
    }
}

impl Sandbox {
    fn is_free(&self) -> bool {
        matches!(self.stage, Stage::Idle { .. } | Stage::Cleaning)
    }

    fn idle_since(&self) -> Option<Duration> {
        if let Stage::Idle { since } = self.stage { Some(since) } else { None }
    }

    fn session(&self) -> Option<SessionId> {
        match self.stage {
            Stage::Sent { session, .. } | Stage::Running { session, .. } | Stage::Exited { session } => {
                Some(session)
            }
            Stage::Ending { retry } => retry,
            Stage::Idle { .. } | Stage::Cleaning => None,
        }
    }

    /// When it will have waited for long enough.
    fn due(&self) -> Option<Duration> {
        Some(self.idle_since()? + self.needs.keep())
    }

    fn kill(&mut self, retry: Option<SessionId>) -> Vec<Effect> {
        self.stage = Stage::Ending { retry };
        vec![Effect::Kill { sandbox: self.id }]
    }

    fn reported(&mut self, now: Duration, report: Report, spent: bool) -> Vec<Effect> {
        match (self.stage, report) {
            // Whoever was sent the next command while it was cleaned is not idle.
            (Stage::Cleaning, Report::Ready { .. }) if !spent && !self.is_last => {
                self.stage = Stage::Idle { since: now };
                Vec::new()
            }
            (Stage::Cleaning, Report::Ready { .. }) => self.kill(None),
            (Stage::Sent { session, .. }, Report::Started { pid, .. }) => {
                self.stage = Stage::Running { session, pid };
                vec![Effect::Release { session }, Effect::Report(Report::Started { session, pid })]
            }
            // What an earlier command has left may be the reason: another sandbox is tried, once.
            (
                Stage::Sent { session, again: true },
                Report::Failed { step: Step::Cwd | Step::Confine, .. },
            ) => self.kill(Some(session)),
            (Stage::Sent { session, .. }, Report::Failed { step, errno, .. }) => {
                self.stage = Stage::Cleaning;
                not_started(session, Failure { step, errno })
            }
            (Stage::Running { session, .. }, Report::Exited { ending, usage, hit, alone, .. }) => {
                self.stage = if alone { Stage::Cleaning } else { Stage::Exited { session } };
                let exited = Report::Exited { session, ending, usage, hit, alone };
                let retired = self.retire_if((spent || self.is_last) && alone);
                [Effect::Report(exited)].into_iter().chain(retired).collect()
            }
            (Stage::Running { session, .. } | Stage::Exited { session }, Report::Held { paths, .. }) => {
                vec![Effect::Report(Report::Held { session, paths })]
            }
            (Stage::Exited { session }, Report::Closed { ended, survivors, .. }) => {
                self.stage = Stage::Cleaning;
                let closed = Report::Closed { session, ended, survivors };
                let retired = self.retire_if(spent || self.is_last);
                [Effect::Report(closed)].into_iter().chain(retired).collect()
            }
            // What does not fit is of no use: it was ended meanwhile, or never said what it should have.
            _ => Vec::new(),
        }
    }

    fn retire_if(&mut self, spent: bool) -> Vec<Effect> {
        if spent { self.kill(None) } else { Vec::new() }
    }
}

/// What is told of a command that did not start, and is not tried again.
fn not_started(session: SessionId, Failure { step, errno }: Failure) -> Vec<Effect> {
    vec![Effect::Release { session }, Effect::Report(Report::Failed { session, step, errno })]
}
