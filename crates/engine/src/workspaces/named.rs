//! Workspaces that requests name, where nothing else says which requests belong together.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use runward_model::{Principal, Refusal};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Known, Place, Workspaces};
use crate::host::Host;
use crate::keys::UNGUESSABLE;

/// A longer name is refused.
const LONGEST: usize = 128;

/// One in use is looked at again after this at the earliest.
const SHORTEST: Duration = Duration::from_millis(10);

/// What a workspace is called.
pub(super) type Name = Arc<str>;

/// How many named workspaces there may be, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedWorkspaces {
    /// For each token; for all callers without one together.
    pub most: usize,
    /// For how long each is kept after its last command.
    pub keep: Duration,
}

impl Default for NamedWorkspaces {
    fn default() -> Self {
        NamedWorkspaces { most: 64, keep: Duration::from_mins(10) }
    }
}

/// What a list tells of a named workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedWorkspace {
    /// What it is called.
    pub name: String,
    /// The directories that commands in it have worked in: each shares within itself.
    pub directories: Vec<PathBuf>,
    /// How many commands run in it.
    pub running: usize,
    /// How long ago the last one ended, if none runs.
    pub idle: Option<Duration>,
}

/// By what named workspaces end.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stopping: CancellationToken,
}

/// One of them.
#[derive(Debug)]
pub(super) struct Named {
    running: usize,
    /// When somebody last entered or left it.
    used: Instant,
    /// Whether somebody sees to its end.
    is_watched: bool,
}

impl Workspaces {
    /// A place in a named workspace, which is made if need be.
    pub(super) fn place(&self, principal: &Principal, name: &str) -> Result<Place, Refusal> {
        unless_bad(principal, name)?;
        let owner = (principal.clone(), Name::from(name));
        let mut known = self.known();
        let freed = if known.named.contains_key(&owner) {
            Vec::new()
        } else {
            known.make_room(self.bounds.most, principal)?
        };
        let fresh = || Named { running: 0, used: Instant::now(), is_watched: false };
        let named = known.named.entry(owner.clone()).or_insert_with(fresh);
        named.running += 1;
        named.used = Instant::now();
        drop(known);
        self.leave(&freed);
        Ok(Place { workspaces: self.clone(), owner })
    }

    /// Those of a principal, by their names.
    pub(crate) fn named(&self, principal: &Principal) -> Vec<NamedWorkspace> {
        let known = self.known();
        let its = known.named.iter().filter(|((owner, _), _)| owner == principal);
        let told = |((_, name), named): (&(Principal, Name), &Named)| NamedWorkspace {
            name: name.to_string(),
            directories: known.directories(principal, name),
            running: named.running,
            idle: (named.running == 0).then(|| named.used.elapsed()),
        };
        let mut all: Vec<NamedWorkspace> = its.map(told).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    fn leave(&self, numbers: &[u64]) {
        if let Some(ends) = &self.ends {
            for number in numbers {
                ends.host.leave(*number);
            }
        }
    }

    /// How long one is kept still, should nobody enter it; one whose time is over is forgotten.
    fn due(&self, owner: &(Principal, Name)) -> Option<Duration> {
        let mut known = self.known();
        let named = known.named.get(owner)?;
        let since = if named.running > 0 { Duration::ZERO } else { named.used.elapsed() };
        if let Some(left) =
            self.bounds.keep.checked_sub(since).filter(|left| !left.is_zero() || named.running > 0)
        {
            return Some(left.max(SHORTEST));
        }
        let freed = known.forget(owner);
        drop(known);
        self.leave(&freed);
        None
    }
}

impl Known {
    /// Forgets the one of this principal that nobody has been in for longest, where there are as many as there may be.
    fn make_room(&mut self, most: usize, principal: &Principal) -> Result<Vec<u64>, Refusal> {
        let its = || self.named.iter().filter(|((owner, _), _)| owner == principal);
        if its().count() < most {
            return Ok(Vec::new());
        }
        let idle = its().filter(|(_, named)| named.running == 0).min_by_key(|(_, named)| named.used);
        let Some(owner) = idle.map(|(owner, _)| owner.clone()) else {
            let reason = format!("{most} are in use already (raw.workspaces)");
            return Err(Refusal::Exhausted { what: "no room for another named workspace", reason });
        };
        Ok(self.forget(&owner))
    }

    fn forget(&mut self, owner: &(Principal, Name)) -> Vec<u64> {
        self.named.remove(owner);
        let (principal, wanted) = owner;
        let its = self
            .numbers
            .extract_if(|(owner, name, _), _| owner == principal && name.as_ref() == Some(wanted));
        its.map(|(_, number)| number).collect()
    }

    fn directories(&self, principal: &Principal, wanted: &Name) -> Vec<PathBuf> {
        let its = self
            .numbers
            .keys()
            .filter(|(owner, name, _)| owner == principal && name.as_ref() == Some(wanted));
        let mut all: Vec<PathBuf> = its.map(|(.., root)| root.clone()).collect();
        all.sort();
        all
    }
}

impl Drop for Place {
    /// The last one that leaves sees to its end.
    fn drop(&mut self) {
        let mut known = self.workspaces.known();
        let Some(named) = known.named.get_mut(&self.owner) else { return };
        named.running -= 1;
        named.used = Instant::now();
        if named.running > 0 || std::mem::replace(&mut named.is_watched, true) {
            return;
        }
        drop(known);
        let (workspaces, owner) = (self.workspaces.clone(), self.owner.clone());
        let (Some(ends), Ok(runtime)) = (workspaces.ends.clone(), Handle::try_current()) else { return };
        let watching = async move {
            while let Some(left) = workspaces.due(&owner) {
                tokio::select! {
                    () = tokio::time::sleep(left) => {}
                    // With the server all of them end.
                    () = ends.stopping.cancelled() => return,
                }
            }
        };
        ends.tasks.spawn_on(watching, &runtime);
    }
}

fn unless_bad(principal: &Principal, name: &str) -> Result<(), Refusal> {
    let length = name.chars().count();
    let reason = if name.is_empty() || length > LONGEST || name.chars().any(char::is_control) {
        format!("is no name; give it 1 to {LONGEST} characters")
    } else if principal.shows_nothing() && length < UNGUESSABLE {
        format!(
            "could be guessed, and nothing else tells this caller from others; give it {UNGUESSABLE} characters or more, such as a UUID, or show a token (`runward token` makes one)"
        )
    } else {
        return Ok(());
    };
    Err(Refusal::WorkspaceName { name: name.to_owned(), reason })
}
