//! Loading a set again when its files change.

mod lookouts;

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::Rego;
use crate::Rulebook;
use lookouts::Lookouts;

/// Editors and deployments change files in several steps; this long after the last one they are done.
const QUIET: Duration = Duration::from_millis(50);
/// A directory that never is quiet is loaded this often all the same.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often files are looked at where the system cannot tell of changes.
const LOOKING: Duration = Duration::from_secs(2);

/// Keeps the rules of a rulebook as their files are, until it is dropped.
#[derive(Debug)]
pub struct Watch {
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Watches a directory whose rules are in the book already. It need not exist yet.
    pub fn begin(rulebook: &Rulebook, directory: &Path) -> io::Result<Self> {
        let stop = eventfd(0, EventfdFlags::CLOEXEC)?;
        let told_to_stop = stop.try_clone()?;
        let watching = Watching { rulebook: rulebook.clone(), directory: directory.to_owned(), told_to_stop };
        let thread = thread::Builder::new().name("policy".into()).spawn(move || watching.run())?;
        Ok(Watch { stop, thread: Some(thread) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let told = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
        if let (Ok(_), Some(thread)) = (told, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

struct Watching {
    rulebook: Rulebook,
    directory: PathBuf,
    told_to_stop: OwnedFd,
}

/// What ended a wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Woken {
    Stopped,
    Changed,
    Quiet,
}

impl Watching {
    fn run(&self) {
        loop {
            // First the watches, then the files: what changes in between is seen.
            let lookouts = Lookouts::around(&self.directory);
            if let Err(error) = &lookouts {
                tracing::warn!(%error, "changes of the policy cannot be watched; looking every two seconds");
            }
            let lookouts = lookouts.ok();
            self.load();
            if self.wait(lookouts.as_ref()) == Woken::Stopped {
                return;
            }
        }
    }

    fn load(&self) {
        let rego = Rego::load(&self.directory);
        let unchanged = self.rulebook.current().rego().is_some_and(|known| known.is_same_as(&rego));
        if unchanged {
            return;
        }
        match rego.fault() {
            None => tracing::info!(directory = %self.directory.display(), "policy loaded"),
            Some(fault) => {
                tracing::error!(fault, "the policy is broken; nothing is allowed until it is mended");
            }
        }
        self.rulebook.amend(|policy| policy.clone().with_rego(rego));
    }

    /// Until something changed and everything has been quiet for a moment.
    fn wait(&self, lookouts: Option<&Lookouts>) -> Woken {
        let Some(lookouts) = lookouts else { return self.woken(None, Some(LOOKING)) };
        loop {
            match self.woken(Some(lookouts), None) {
                Woken::Stopped => return Woken::Stopped,
                Woken::Changed => break,
                Woken::Quiet => {}
            }
        }
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            match self.woken(Some(lookouts), Some(QUIET)) {
                Woken::Changed => {}
                woken => return woken,
            }
        }
        Woken::Changed
    }

    fn woken(&self, lookouts: Option<&Lookouts>, limit: Option<Duration>) -> Woken {
        let mut waiting = vec![PollFd::new(&self.told_to_stop, PollFlags::IN)];
        waiting.extend(lookouts.map(|lookouts| PollFd::new(lookouts, PollFlags::IN)));
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let polled = poll(&mut waiting, limit.as_ref());
        let is_ready = |at: usize| waiting.get(at).is_some_and(|one| !one.revents().is_empty());
        match (polled, lookouts) {
            (Ok(0) | Err(_), _) => Woken::Quiet,
            _ if is_ready(0) => Woken::Stopped,
            (_, Some(lookouts)) if lookouts.saw_a_change() => Woken::Changed,
            _ => Woken::Quiet,
        }
    }
}
