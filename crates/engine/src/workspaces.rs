//! Which commands share temporary files and a loopback: those of one client in one workspace.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runward_model::{Fence, Network, Principal, Refusal};
use runward_proxy::Hosts;

mod named;

pub(crate) use named::Ends;
use named::{Name, Named};
pub use named::{NamedWorkspace, NamedWorkspaces};

/// All of them, by the numbers that the machine knows them by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workspaces {
    known: Arc<Mutex<Known>>,
    bounds: NamedWorkspaces,
    ends: Option<Ends>,
}

#[derive(Debug, Default)]
struct Known {
    numbers: HashMap<(Principal, Option<Name>, PathBuf), u64>,
    named: HashMap<(Principal, Name), Named>,
    /// How many there have ever been: no number stands for two.
    made: u64,
    /// Each list of hosts has loopbacks of its own.
    lists: Vec<Arc<Hosts>>,
    /// Where proxies listen.
    ports: BTreeSet<u16>,
}

/// A command's place in a named workspace, which is kept for as long as anybody has one, and for a while after.
#[derive(Debug)]
pub(crate) struct Place {
    workspaces: Workspaces,
    owner: (Principal, Name),
}

/// Where a command's proxy listens; somebody else's may once this is dropped.
#[derive(Debug)]
pub(crate) struct ProxyPort {
    workspaces: Workspaces,
    pub(crate) number: u16,
}

impl Workspaces {
    /// Named ones within these bounds, which end by these means.
    pub(crate) fn new(bounds: NamedWorkspaces, ends: Ends) -> Self {
        Workspaces { known: Arc::default(), bounds, ends: Some(ends) }
    }

    /// Says in a fence what its command shares with which others: those of its client, or those that name the same. Nobody's
    /// client that names nothing shares nothing.
    pub(crate) fn enter(
        &self,
        fence: &mut Fence,
        (principal, name): (&Principal, Option<&str>),
        hosts: Option<&Arc<Hosts>>,
    ) -> Result<Option<Place>, Refusal> {
        let root = root(fence).to_owned();
        let place = name.map(|name| self.place(principal, name)).transpose()?;
        let mut known = self.known();
        fence.loopback = hosts.map_or(0, |hosts| known.loopback(hosts));
        let name = place.as_ref().map(|place| place.owner.1.clone());
        if name.is_some() || !principal.is_any_client() {
            fence.workspace = Some(known.number((principal.clone(), name, root)));
        }
        Ok(place)
    }

    /// A port that no other proxy listens at.
    pub(crate) fn port(&self) -> ProxyPort {
        let mut known = self.known();
        let free = (Network::PROXY_PORT..=u16::MAX).find(|port| !known.ports.contains(port));
        let number = free.unwrap_or(Network::PROXY_PORT);
        known.ports.insert(number);
        ProxyPort { workspaces: self.clone(), number }
    }

    /// Forgets those of a client that will not come back, and says which they were.
    pub(crate) fn left(&self, principal: &Principal) -> Vec<u64> {
        let mut known = self.known();
        let its = known.numbers.extract_if(|(owner, name, _), _| name.is_none() && owner == principal);
        its.map(|(_, number)| number).collect()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn number(&mut self, whose: (Principal, Option<Name>, PathBuf)) -> u64 {
        let made = &mut self.made;
        *self.numbers.entry(whose).or_insert_with(|| {
            *made += 1;
            *made
        })
    }

    fn loopback(&mut self, hosts: &Arc<Hosts>) -> u64 {
        let known = self.lists.iter().position(|list| Arc::ptr_eq(list, hosts));
        let position = known.unwrap_or_else(|| {
            self.lists.push(hosts.clone());
            self.lists.len() - 1
        });
        u64::try_from(position).unwrap_or(u64::MAX).saturating_add(1)
    }
}

impl Drop for ProxyPort {
    fn drop(&mut self) {
        self.workspaces.known().ports.remove(&self.number);
    }
}

/// What of a fence's directory can be written as a whole, if anything.
pub(crate) fn writable(fence: &Fence) -> Option<PathBuf> {
    let root = root(fence);
    let path = |text: &CString| Path::new(OsStr::from_bytes(text.as_bytes())) == root;
    fence.writable.iter().any(path).then(|| root.to_owned())
}

/// The workspace of a command: the outermost directory around it that it may write, else the directory itself.
fn root(fence: &Fence) -> &Path {
    let path = |text: &CString| Path::new(OsStr::from_bytes(text.as_bytes())).to_owned();
    let directory = path(&fence.directory);
    let around = fence.writable.iter().filter(|root| directory.starts_with(path(root)));
    let root = around.min_by_key(|root| root.as_bytes().len()).unwrap_or(&fence.directory);
    Path::new(OsStr::from_bytes(root.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use runward_model::{Profile, Tier};

    fn fence(directory: &str, writable: &[&str]) -> Fence {
        let text = |path: &str| CString::new(path).unwrap();
        let mut fence = Fence::new(Profile::WorkspaceWrite, Tier::Full, Network::Off, text(directory));
        fence.writable = writable.iter().map(|path| text(path)).collect();
        fence
    }

    fn entered(workspaces: &Workspaces, principal: &Principal, mut fence: Fence) -> Option<u64> {
        workspaces.enter(&mut fence, (principal, None), None).unwrap();
        fence.workspace
    }

    #[test]
    fn a_client_shares_within_one_workspace_and_with_nobody_else() {
        let workspaces = Workspaces::default();
        let (one, other) = (Principal::local().client("1"), Principal::local().client("2"));
        let top = entered(&workspaces, &one, fence("/site", &["/site"]));
        assert_eq!(entered(&workspaces, &one, fence("/site/sub", &["/site", "/cache"])), top);
        assert_ne!(entered(&workspaces, &one, fence("/elsewhere", &["/elsewhere"])), top);
        assert_ne!(entered(&workspaces, &other, fence("/site", &["/site"])), top);
        assert_eq!(entered(&workspaces, &Principal::local().any_client(), fence("/site", &["/site"])), None);
    }

    #[test]
    fn a_client_that_comes_back_finds_nothing_of_what_it_left() {
        let workspaces = Workspaces::default();
        let principal = Principal::local();
        let first = entered(&workspaces, &principal, fence("/site", &["/site"]));
        assert_eq!(workspaces.left(&principal), Vec::from_iter(first));
        assert_ne!(entered(&workspaces, &principal, fence("/site", &["/site"])), first);
    }

    #[test]
    fn no_two_proxies_listen_at_one_port() {
        let workspaces = Workspaces::default();
        let (one, two) = (workspaces.port(), workspaces.port());
        assert_eq!((one.number, two.number), (Network::PROXY_PORT, Network::PROXY_PORT + 1));
        drop(one);
        assert_eq!(workspaces.port().number, Network::PROXY_PORT);
    }

    fn named(workspaces: &Workspaces, principal: &Principal, name: &str) -> Result<(u64, Place), Refusal> {
        let mut fence = fence("/site", &["/site"]);
        let place = workspaces.enter(&mut fence, (principal, Some(name)), None)?;
        Ok((fence.workspace.unwrap(), place.unwrap()))
    }

    const LONG: &str = "0123456789abcdefghijkl";

    #[test]
    fn a_named_workspace_is_one_for_all_that_name_it_and_show_the_same() {
        let workspaces = Workspaces::default();
        let (one, other) = (Principal::named("ci").any_client(), Principal::named("dev").any_client());
        let (first, _kept) = named(&workspaces, &one, "a").unwrap();
        assert_eq!(named(&workspaces, &one, "a").unwrap().0, first);
        assert_ne!(named(&workspaces, &one, "b").unwrap().0, first);
        assert_ne!(named(&workspaces, &other, "a").unwrap().0, first);
        assert_ne!(entered(&workspaces, &one, fence("/site", &["/site"])), Some(first));
        let listed: Vec<String> = workspaces.named(&one).into_iter().map(|one| one.name).collect();
        assert_eq!(listed, ["a", "b"]);
    }

    #[test]
    fn without_a_token_a_name_that_could_be_guessed_is_refused() {
        let workspaces = Workspaces::default();
        let nobody = Principal::local().any_client();
        assert!(named(&workspaces, &nobody, &LONG[1..]).is_err());
        assert!(named(&workspaces, &nobody, LONG).is_ok());
        for name in ["", "a\nb", &LONG.repeat(10)] {
            assert!(named(&workspaces, &Principal::named("ci").any_client(), name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn the_one_that_is_idle_for_longest_makes_room_and_one_in_use_never_does() {
        let bounds = NamedWorkspaces { most: 2, ..NamedWorkspaces::default() };
        let workspaces = Workspaces { bounds, ..Workspaces::default() };
        let ci = Principal::named("ci").any_client();
        let (first, kept) = named(&workspaces, &ci, "a").unwrap();
        named(&workspaces, &ci, "b").unwrap();
        let (_, third) = named(&workspaces, &ci, "c").unwrap();
        assert_eq!(named(&workspaces, &ci, "a").unwrap().0, first, "it is in use");
        assert!(matches!(named(&workspaces, &ci, "d"), Err(Refusal::Exhausted { .. })));
        assert!(
            named(&workspaces, &Principal::named("dev").any_client(), "d").is_ok(),
            "others have their own"
        );
        drop((kept, third));
        assert!(named(&workspaces, &ci, "d").is_ok());
    }
}
