//! Sessions held by control groups.

use std::collections::HashMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use runward_model::wire::{Launch, Report, Step};
use runward_model::{Abilities, Containment, LimitHit, Limits, SessionId, Signal};
use runward_sandbox::Readable;
use rustix::event::{PollFd, PollFlags};

use crate::cgroup::{Cgroups, Limited};
use crate::channel::Channel;
use crate::clone::{self, Bounds, Failure, Stack, restrictions_of};
use crate::oom;
use crate::reap::Ended;
use crate::rlimits;
use crate::serve::{Announced, Sessions, send_to_group};

/// Every session has a group of its own; its first process is this process's child.
pub(crate) struct CgroupSessions {
    sessions: HashMap<SessionId, Session>,
    first: HashMap<i32, SessionId>,
    stack: Stack,
    /// What commands that are confined without namespaces may read.
    readable: Readable,
    /// Last: dropped after everything else, it ends whatever is left.
    cgroups: Cgroups,
}

/// A group that a whole sandbox shares, to be known by and held to limits.
pub(crate) struct Group {
    held: Limited,
    /// The limits that no controller takes.
    pub(crate) left: Limits,
}

impl Group {
    /// What the first process is born into.
    pub(crate) fn directory(&self) -> BorrowedFd<'_> {
        self.held.slot.directory()
    }

    /// In the first process: joins groups that nobody is born into.
    pub(crate) fn join(&self) {
        for procs in self.held.meter.procs_files() {
            let _ = rustix::io::write(procs, b"0");
        }
    }

    /// The limit that was hit, if any.
    pub(crate) fn hit(&self) -> Option<LimitHit> {
        self.held.meter.hit()
    }

    /// Removes it; nobody is in it any more.
    pub(crate) fn retire(self) {
        self.held.slot.retire();
    }
}

struct Session {
    held: Limited,
    stage: Stage,
}

/// How far a session is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Its first process is alive.
    Running,
    /// Its first process has ended, others have not.
    LeftBehind,
    /// This many processes are being killed; `exited` says whether the first one has been reported.
    Closing { ended: u32, exited: bool },
}

impl Session {
    /// Gone, with this many processes killed.
    fn gone(&self) -> Option<u32> {
        let ended = match self.stage {
            Stage::Running | Stage::Closing { exited: false, .. } => return None,
            Stage::LeftBehind => 0,
            Stage::Closing { ended, .. } => ended,
        };
        self.held.slot.is_empty().then_some(ended)
    }
}

impl CgroupSessions {
    pub(crate) fn new(cgroups: Cgroups) -> Self {
        let (sessions, first) = (HashMap::new(), HashMap::new());
        CgroupSessions { sessions, first, stack: Stack::new(), readable: Readable::default(), cgroups }
    }

    fn forget(&mut self, session: SessionId) {
        if let Some(Session { held, stage }) = self.sessions.remove(&session) {
            // Linux kills at once what is born into a group that was ever killed: `CLONE_INTO_CGROUP` compares the kill
            // count of the new group with that of the parent's own.
            match stage {
                Stage::Closing { .. } => held.slot.retire(),
                Stage::Running | Stage::LeftBehind => self.cgroups.give_back_limited(held),
            }
        }
    }
}

impl Announced for CgroupSessions {
    fn ready(&self) -> Report {
        let cgroup = self.cgroups.base().to_str().map(str::to_owned);
        Report::Ready { containment: Containment::Cgroup, cgroup, abilities: Abilities::default() }
    }

    fn is_out_of_sight(&self) -> bool {
        false
    }
}

impl Sessions for CgroupSessions {
    fn spawn(
        &mut self,
        session: SessionId,
        launch: Launch,
        fds: Vec<OwnedFd>,
        _channel: &Channel,
    ) -> Result<Option<i32>, Failure> {
        let parts = launch.parts().map_err(|_| Failure { step: Step::Exec, errno: libc::EINVAL })?;
        let restrictions = restrictions_of(&launch, &mut self.readable)?;
        let held = self.cgroups.take_limited(*launch.limits());
        let held = held.map_err(|error| Failure::of(Step::Limit, &error))?;
        let bounds = Bounds {
            cgroup: Some(held.slot.directory()),
            joins: held.meter.procs_files(),
            limits: held.left,
            restrictions: restrictions.as_ref(),
        };
        let started = oom::expendable(|| clone::spawn(&parts, &fds, &bounds, &mut self.stack));
        self.sessions.insert(session, Session { held, stage: Stage::Running });
        match started {
            Ok(pid) => {
                self.first.insert(pid, session);
                Ok(Some(pid))
            }
            Err(failure) => {
                self.forget(session);
                Err(failure)
            }
        }
    }

    fn group(&mut self, limits: Limits) -> io::Result<Option<Group>> {
        // The first process of the sandbox counts as well.
        let limits = Limits { processes: limits.processes.map(|count| count + 1), ..limits };
        let held = self.cgroups.take_limited(limits)?;
        let left = Limits { processes: held.left.processes.map(|count| count - 1), ..held.left };
        Ok(Some(Group { held, left }))
    }

    fn first(&self, session: SessionId) -> Option<i32> {
        self.first.iter().find(|(_, id)| **id == session).map(|(pid, _)| *pid)
    }

    fn members(&self, session: SessionId) -> Vec<i32> {
        self.sessions.get(&session).map_or_else(Vec::new, |session| session.held.slot.members())
    }

    fn signal(&mut self, session: SessionId, signal: Signal) {
        if let Some(session) = self.sessions.get(&session) {
            session.held.slot.signal(signal);
        }
    }

    fn signal_group(&mut self, session: SessionId, signal: Signal) {
        if let Some(leader) = self.first(session) {
            send_to_group(leader, signal);
        }
    }

    fn close(&mut self, session: SessionId, _channel: &Channel) {
        let Some(session) = self.sessions.get_mut(&session) else { return };
        let exited = match session.stage {
            Stage::Closing { .. } => return,
            stage => stage == Stage::LeftBehind,
        };
        // The first process is the command itself, not something that it left behind.
        let members =
            session.held.slot.members().len() - usize::from(!exited && !session.held.slot.is_empty());
        let ended = u32::try_from(members).unwrap_or(u32::MAX);
        session.held.slot.kill();
        session.stage = Stage::Closing { ended, exited };
    }

    fn child_ended(&mut self, ended: &Ended, channel: &Channel) {
        let Some(id) = self.first.remove(&ended.pid) else { return };
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let alone = session.stage == Stage::Running && session.held.slot.is_empty();
        match &mut session.stage {
            Stage::Closing { exited, .. } => *exited = true,
            stage => *stage = Stage::LeftBehind,
        }
        let hit = session.held.meter.hit().or_else(|| rlimits::hit(ended.ending));
        if alone {
            self.forget(id);
        }
        let (ending, usage) = (ended.ending, ended.usage);
        channel.report(&oom::told(Report::Exited { session: id, ending, usage, hit, alone }));
    }

    fn settled(&mut self, _alive: bool, channel: &Channel) {
        let gone: Vec<(SessionId, u32)> =
            self.sessions.iter().filter_map(|(id, session)| Some((*id, session.gone()?))).collect();
        for (session, ended) in gone {
            self.forget(session);
            channel.report(&Report::Closed { session, ended, survivors: Vec::new() });
        }
    }

    fn watched(&self) -> Vec<PollFd<'_>> {
        let leaving = self.sessions.values().filter(|session| session.stage != Stage::Running);
        leaving.map(|session| PollFd::from_borrowed_fd(session.held.slot.events(), PollFlags::PRI)).collect()
    }

    fn is_closing(&self) -> bool {
        self.sessions.values().any(|session| matches!(session.stage, Stage::Closing { .. }))
    }

    fn is_finished(&self) -> bool {
        false
    }
}
