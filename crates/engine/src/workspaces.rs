//! Which commands share temporary files and a loopback: those of one client in one workspace.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runward_model::{Fence, Network, Principal};
use runward_proxy::Hosts;

/// All of them, by the numbers that the machine knows them by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workspaces(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    numbers: HashMap<(Principal, PathBuf), u64>,
    /// How many there have ever been: no number stands for two.
    made: u64,
    /// Each list of hosts has loopbacks of its own.
    lists: Vec<Arc<Hosts>>,
    /// Where proxies listen.
    ports: BTreeSet<u16>,
}

/// Where a command's proxy listens; somebody else's may once this is dropped.
#[derive(Debug)]
pub(crate) struct ProxyPort {
    workspaces: Workspaces,
    pub(crate) number: u16,
}

impl Workspaces {
    /// Says in a fence what its command shares with which others. Nobody's client shares nothing.
    pub(crate) fn enter(&self, fence: &mut Fence, principal: &Principal, hosts: Option<&Arc<Hosts>>) {
        let root = root(fence).to_owned();
        let mut known = self.known();
        fence.loopback = hosts.map_or(0, |hosts| known.loopback(hosts));
        if !principal.is_any_client() {
            fence.workspace = Some(known.number(principal, root));
        }
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
        known.numbers.extract_if(|(owner, _), _| owner == principal).map(|(_, number)| number).collect()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn number(&mut self, principal: &Principal, root: PathBuf) -> u64 {
        let made = &mut self.made;
        *self.numbers.entry((principal.clone(), root)).or_insert_with(|| {
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
        workspaces.enter(&mut fence, principal, None);
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
}
