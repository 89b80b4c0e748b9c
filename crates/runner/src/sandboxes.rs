//! The sandboxes of a runner: does what the [`Pool`] says is to be done about them, and tells it what came of it.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use runward_model::wire::{Launch, Order, Report, Step};
use runward_model::{Fence, LimitHit, SessionId};
use runward_sandbox::{Namespaces, Shared};
use rustix::event::{PollFd, PollFlags};

use crate::cgroup_sessions::Group;
use crate::channel::Channel;
use crate::clone::Failure;
use crate::mounted_layers::MountedLayers;
use crate::needs::Needs;
use crate::oom;
use crate::pool::{Effect, Input, Pool, SandboxId};
use crate::procfs;
use crate::sandbox::Sandbox;
use crate::serve::Sessions;

/// All sandboxes, and what they are to run.
pub(crate) struct Sandboxes {
    namespaces: Option<Namespaces>,
    pool: Pool,
    began: Instant,
    built: HashMap<SandboxId, Sandbox>,
    /// Commands that have not started yet.
    waiting: HashMap<SessionId, Waiting>,
    /// What workspaces share, until their client leaves.
    shared: HashMap<u64, Rc<Shared>>,
    mounted: MountedLayers,
}

/// A command that has not started yet, and may have to be sent once more.
struct Waiting {
    launch: Launch,
    fds: Vec<OwnedFd>,
}

/// What there is around the sandboxes.
pub(crate) struct Around<'a> {
    pub(crate) channel: &'a Channel,
    /// Makes groups for whole sandboxes.
    pub(crate) rest: &'a mut dyn Sessions,
}

impl Sandboxes {
    pub(crate) fn new(namespaces: Option<Namespaces>) -> Self {
        Sandboxes {
            namespaces,
            pool: Pool::default(),
            began: Instant::now(),
            built: HashMap::new(),
            waiting: HashMap::new(),
            shared: HashMap::new(),
            mounted: MountedLayers::default(),
        }
    }

    /// Has a command run in a sandbox. What becomes of it is reported.
    pub(crate) fn spawn(
        &mut self,
        session: SessionId,
        launch: Launch,
        fds: Vec<OwnedFd>,
        around: &mut Around<'_>,
    ) {
        let Some(fence) = launch.fence() else {
            let (step, errno) = (Step::Confine, libc::EINVAL);
            return around.channel.report(&Report::Failed { session, step, errno });
        };
        let needs = Rc::new(Needs::of(fence, launch.limits()));
        self.waiting.insert(session, Waiting { launch, fds });
        self.feed(Input::Spawn { session, needs }, around);
    }

    /// Whether a session is one of these.
    pub(crate) fn has(&self, session: SessionId) -> bool {
        self.pool.of(session).is_some()
    }

    /// The first process of a session, while it runs.
    pub(crate) fn first(&self, session: SessionId) -> Option<i32> {
        self.pool.first(session)
    }

    /// Every process of a session: all in its sandbox but the first.
    pub(crate) fn members(&self, session: SessionId) -> Vec<i32> {
        let sandbox = self.pool.of(session).and_then(|id| self.built.get(&id));
        sandbox.map_or_else(Vec::new, |sandbox| procfs::descendants(sandbox.init))
    }

    /// Passes an order about a session on to its sandbox.
    pub(crate) fn pass_on(&self, session: SessionId, order: &Order) {
        if let Some(sandbox) = self.pool.of(session).and_then(|id| self.built.get(&id)) {
            // Nobody is there any more to be told: the session is about to be reported as ended.
            let _ = sandbox.order(order, &[]);
        }
    }

    /// Ends a session.
    pub(crate) fn close(&mut self, session: SessionId, around: &mut Around<'_>) {
        self.feed(Input::Close { session }, around);
    }

    /// Takes in what sandboxes have reported, and that time has passed.
    pub(crate) fn settle(&mut self, around: &mut Around<'_>) {
        let ids: Vec<SandboxId> = self.built.keys().copied().collect();
        for id in ids {
            self.take_in_reports(id, around);
        }
        self.feed(Input::Tick, around);
    }

    /// Whether a child that has ended was the first process of a sandbox, which then is gone as a whole.
    pub(crate) fn child_ended(&mut self, pid: i32, around: &mut Around<'_>) -> bool {
        let Some(id) = self.built.iter().find(|(_, sandbox)| sandbox.init == pid).map(|(id, _)| *id) else {
            return false;
        };
        // Its last words first: they say how far its command has come.
        self.take_in_reports(id, around);
        let Some(sandbox) = self.built.remove(&id) else { return true };
        // Its command may have been killed with it.
        runward_sandbox::sweep(&sandbox.fence);
        // What the group has to tell is read before the group goes.
        let hit = sandbox.group.as_ref().and_then(Group::hit);
        if let Some(group) = sandbox.group {
            group.retire();
        }
        self.feed(Input::Ended { sandbox: id, hit }, around);
        true
    }

    /// What wakes the runner.
    pub(crate) fn watched(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.built.values().map(|sandbox| PollFd::new(sandbox.socket(), PollFlags::IN))
    }

    /// When something will have waited for long enough.
    pub(crate) fn alarm(&self) -> Option<Duration> {
        self.pool.alarm(self.began.elapsed())
    }

    /// Steps, and does what is to be done until nothing more follows from that.
    fn feed(&mut self, input: Input, around: &mut Around<'_>) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            for effect in self.pool.step(self.began.elapsed(), input) {
                inputs.extend(self.perform(effect, around));
            }
        }
    }

    /// Does it; returns what follows at once.
    fn perform(&mut self, effect: Effect, around: &mut Around<'_>) -> Vec<Input> {
        match effect {
            Effect::Build { sandbox, needs } => {
                if let Err(failure) = self.build(sandbox, &needs, around) {
                    return vec![Input::Failed { sandbox, failure }, Input::Ended { sandbox, hit: None }];
                }
            }
            Effect::Send { sandbox, session } => match self.send(sandbox, session) {
                Ok(()) => {}
                Err(error) => {
                    let failure = Failure::of(Step::Confine, &error);
                    return vec![Input::Failed { sandbox, failure }];
                }
            },
            Effect::Release { session } => drop(self.waiting.remove(&session)),
            Effect::Close { session, .. } => self.pass_on(session, &Order::Close { session }),
            Effect::Kill { sandbox } => self.built.get(&sandbox).map_or((), Sandbox::kill),
            Effect::Report(report) => around.channel.report(&oom::told(report)),
        }
        Vec::new()
    }

    fn build(&mut self, id: SandboxId, needs: &Needs, around: &mut Around<'_>) -> Result<(), Failure> {
        let none = || Failure { step: Step::Confine, errno: libc::ENOSYS };
        let group = around.rest.group(needs.limits()).map_err(|error| Failure::of(Step::Limit, &error))?;
        let namespaces = self.namespaces.clone().ok_or_else(none)?;
        let shared = self.shared(needs.fence(), &namespaces);
        let sandbox = shared.and_then(|shared| Sandbox::start(needs.fence(), shared, group));
        self.built.insert(id, sandbox.map_err(|error| Failure::of(Step::Confine, &error))?);
        Ok(())
    }

    /// What the commands of a workspace share; something new for one that shares nothing.
    fn shared(&mut self, fence: &Fence, namespaces: &Namespaces) -> io::Result<Rc<Shared>> {
        let known = fence.workspace.and_then(|workspace| self.shared.get(&workspace)).cloned();
        let shared = if let Some(shared) = known {
            shared
        } else {
            let caches = fence.caches.as_ref();
            let layer = caches.and_then(|own| self.mounted.layer(namespaces, own, fence.temporary_size));
            Rc::new(Shared::make(namespaces, fence.temporary_size, layer.as_ref())?)
        };
        if let Some(workspace) = fence.workspace {
            self.shared.insert(workspace, shared.clone());
        }
        if fence.network.is_own() {
            shared.make_loopback(fence.loopback)?;
        }
        Ok(shared)
    }

    /// Lets go of what a workspace shares: it is gone once the last of its commands is.
    pub(crate) fn leave(&mut self, workspace: u64, around: &mut Around<'_>) {
        self.shared.remove(&workspace);
        self.feed(Input::Left { workspace }, around);
    }

    /// Sends a command to a sandbox.
    fn send(&mut self, id: SandboxId, session: SessionId) -> io::Result<()> {
        // Building it has failed, and has been told of.
        let Some(sandbox) = self.built.get_mut(&id) else { return Ok(()) };
        let missing = || io::Error::from_raw_os_error(libc::ENOENT);
        let Waiting { launch, fds } = self.waiting.get(&session).ok_or_else(missing)?;
        let left = sandbox.group.as_ref().map_or(*launch.limits(), |group| group.left);
        let launch = launch.clone().inside(left);
        match sandbox.order(&Order::Spawn { session, launch }, fds) {
            Err(error) if !is_gone(&error) => Err(error),
            // One that has just ended is about to be reaped; what waits for it is then tried in another.
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn take_in_reports(&mut self, id: SandboxId, around: &mut Around<'_>) {
        let Some(sandbox) = self.built.get_mut(&id) else { return };
        for report in sandbox.reports() {
            let Some(sandbox) = self.built.get(&id) else { return };
            // A command can have run into a limit only once something of it has ended.
            let asks = !matches!(report, Report::Started { .. } | Report::Ready { .. });
            let hit = sandbox.group.as_ref().filter(|_| asks).and_then(Group::hit);
            let report = seen_from_here(report, sandbox.init, hit);
            self.feed(Input::Reported { sandbox: id, report, spent: hit.is_some() }, around);
        }
    }
}

/// A sandbox knows its command by another number, and nothing of the limits of its group.
fn seen_from_here(report: Report, init: i32, hit: Option<LimitHit>) -> Report {
    match report {
        Report::Started { session, .. } => {
            let pid = procfs::children(init).first().copied().unwrap_or(init);
            Report::Started { session, pid }
        }
        Report::Exited { session, ending, usage, hit: own, alone } => {
            Report::Exited { session, ending, usage, hit: hit.or(own), alone }
        }
        report => report,
    }
}

/// Whether nobody is at the other end any more.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

impl Drop for Sandboxes {
    /// Ends everything at once, then waits until it is gone: only then may groups go.
    fn drop(&mut self) {
        self.built.values().for_each(Sandbox::kill);
        for sandbox in self.built.values() {
            // SAFETY: waits for a child of this process; the status is of no interest.
            unsafe { libc::waitpid(sandbox.init, std::ptr::null_mut(), 0) };
            runward_sandbox::sweep(&sandbox.fence);
        }
    }
}
