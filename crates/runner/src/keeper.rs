//! A keeper: the process that holds one session together where there are no control groups.
//!
//! It is a fork of the runner that runs the same loop for a single session. As a subreaper (or as the first process
//! of a PID namespace) it becomes the parent of every orphan of the session, so it can name all descendants.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use runward_model::wire::{Launch, Report, Step};
use runward_model::{SessionId, Signal};
use runward_sandbox::Readable;

use crate::channel::Channel;
use crate::clone::{self, Bounds, Failure, Stack, restrictions_of};
use crate::procfs;
use crate::reap::{self, Children, Ended};
use crate::rlimits;
use crate::serve::{Sessions, send, send_to_group};

/// How long descendants are hunted before those that are left are called survivors.
const HUNT: Duration = Duration::from_secs(2);

/// The one session of a keeper.
pub(crate) struct Keeper {
    session: SessionId,
    first: Option<i32>,
    exited: Option<Report>,
    hunt: Option<Hunt>,
    finished: bool,
}

struct Hunt {
    since: Instant,
    killed: BTreeSet<i32>,
}

impl Hunt {
    fn begin() -> Self {
        Hunt { since: Instant::now(), killed: BTreeSet::new() }
    }
}

impl Keeper {
    /// Starts the session's first process and tells the runner.
    pub(crate) fn begin(session: SessionId, launch: &Launch, fds: &[OwnedFd], channel: &Channel) -> Self {
        let started =
            launch.parts().map_err(|_| Failure { step: Step::Exec, errno: libc::EINVAL }).and_then(|parts| {
                let restrictions = restrictions_of(launch, &mut Readable::default())?;
                let (limits, restrictions) = (*launch.limits(), restrictions.as_ref());
                let bounds = Bounds { limits, restrictions, ..Bounds::default() };
                clone::spawn(&parts, fds, &bounds, &mut Stack::new())
            });
        let keeper =
            Keeper { session, first: started.ok(), exited: None, hunt: None, finished: started.is_err() };
        channel.report(&match started {
            Ok(pid) => Report::Started { session, pid },
            Err(Failure { step, errno }) => Report::Failed { session, step, errno },
        });
        keeper
    }

    fn hunt_on(&mut self, channel: &Channel) {
        let Some(hunt) = &mut self.hunt else { return };
        let left: Vec<i32> = own_descendants();
        for pid in &left {
            send(*pid, Signal::KILL);
            // The first process is the command itself, not something that it left behind.
            if self.first != Some(*pid) {
                hunt.killed.insert(*pid);
            }
        }
        if self.first.is_some() {
            return;
        }
        if left.is_empty() || hunt.since.elapsed() > HUNT {
            let ended = u32::try_from(hunt.killed.len().saturating_sub(left.len())).unwrap_or(u32::MAX);
            channel.report(&Report::Closed { session: self.session, ended, survivors: left });
            self.finished = true;
        }
    }
}

/// Every living descendant of this process.
fn own_descendants() -> Vec<i32> {
    let own = i32::try_from(std::process::id()).unwrap_or(1);
    procfs::descendants(own).into_iter().filter(|pid| !procfs::is_zombie(*pid)).collect()
}

impl Drop for Keeper {
    /// The runner has gone, or the session is over: nobody may be left.
    fn drop(&mut self) {
        let since = Instant::now();
        loop {
            let left = own_descendants();
            for pid in &left {
                send(*pid, Signal::KILL);
            }
            while let Children::Ended(_) | Children::Stopped(_) = reap::next() {}
            if left.is_empty() || since.elapsed() > HUNT {
                return;
            }
        }
    }
}

impl Sessions for Keeper {
    fn spawn(
        &mut self,
        _: SessionId,
        _: Launch,
        _: Vec<OwnedFd>,
        _: &Channel,
    ) -> Result<Option<i32>, Failure> {
        Err(Failure { step: Step::Clone, errno: libc::EBUSY })
    }

    fn signal(&mut self, _session: SessionId, signal: Signal) {
        for pid in own_descendants() {
            send(pid, signal);
        }
    }

    fn signal_group(&mut self, _session: SessionId, signal: Signal) {
        if let Some(leader) = self.first {
            send_to_group(leader, signal);
        }
    }

    fn close(&mut self, _session: SessionId, channel: &Channel) {
        self.hunt.get_or_insert_with(Hunt::begin);
        self.hunt_on(channel);
    }

    fn child_ended(&mut self, ended: &Ended, _channel: &Channel) {
        if self.first == Some(ended.pid) {
            self.first = None;
            let (session, ending, usage) = (self.session, ended.ending, ended.usage);
            let hit = rlimits::hit(ending);
            self.exited = Some(Report::Exited { session, ending, usage, hit, alone: false });
        }
    }

    fn settled(&mut self, alive: bool, channel: &Channel) {
        if let Some(Report::Exited { session, ending, usage, hit, .. }) = self.exited.take() {
            let alone = !alive && self.hunt.is_none();
            channel.report(&Report::Exited { session, ending, usage, hit, alone });
            self.finished = alone;
        }
        if self.first.is_none() && !self.finished {
            if !alive && self.hunt.is_none() {
                self.hunt = Some(Hunt::begin());
            }
            self.hunt_on(channel);
        }
    }

    fn is_closing(&self) -> bool {
        self.hunt.is_some()
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}
