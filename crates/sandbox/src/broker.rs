//! Makes files for confined commands, and holds back what would run code for somebody else.
//!
//! # Theory of operation
//!
//! In a workspace a command may by itself neither make nor change a file: Landlock gives it no right to. The calls that do
//! so wait for an answer (seccomp's user notifications), and the first process of the sandbox, which sees the same mounts
//! and drops what the command does not have of privileges, does what is asked, by descriptors that it has looked up itself.
//! So a name is looked at exactly once, by whoever then acts on it: there is nothing to win by changing it in between.
//!
//! Nearly everything is simply done. What lies under a name by which other programs find code ([`names`](crate::names)) is
//! copied into a store outside of the workspace and mounted over its place, inside this sandbox only; from then on the
//! command works on the copy. Mounts merely show what is held back: where one is lost, since somebody renames what is
//! below, the rights of the command have not changed. Configurations of git are judged when they are put in place, and
//! what is harmless in them is published at once.

mod acts;
mod held;
mod lookup;
mod moves;
mod notify;
mod publish;
mod release;
mod repository;
mod store;
mod trees;

use std::collections::BTreeSet;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use runward_model::{Fence, PrivateDirectory, Tier};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::mounts;
use crate::names::{self, Kind, Making, Ruling};

pub(crate) use notify::send_listener;
pub use release::{HeldBack, held_back, sweep, sweep_all};

/// So many calls are answered before orders are looked at again.
const AT_ONCE: usize = 64;

/// The broker of one sandbox, for one command at a time.
#[derive(Debug)]
pub struct Broker {
    roots: Vec<Root>,
    /// What stays as it is, whatever it is called.
    kept: Vec<PathBuf>,
    /// What the operator named as writable itself.
    granted: Vec<PathBuf>,
    /// What a person's configuration of git names as code.
    named: Vec<PathBuf>,
    /// Where git may make linked trees beside a repository.
    grounds: Vec<(PathBuf, OwnedFd)>,
    /// Where what is held back is kept, for all workspaces.
    base: Option<OwnedFd>,
    /// Whether the `/proc` in here counts processes as this process does.
    is_own_proc: bool,
    /// Where listeners arrive.
    arriving: OwnedFd,
    listener: Option<OwnedFd>,
    /// What is held back and shown in here.
    units: Vec<Unit>,
    /// What this command has had held back.
    touched: BTreeSet<PathBuf>,
}

/// A directory that commands may write.
#[derive(Debug)]
struct Root {
    path: PathBuf,
    /// The same as the host sees it, whatever is mounted over parts of it in here.
    real: OwnedFd,
    /// What is held back of it.
    store: Option<held::Store>,
}

/// Something that is held back.
#[derive(Debug)]
struct Unit {
    path: PathBuf,
    kind: Kind,
    /// What is mounted there, as long as it is.
    mount: u64,
    /// Shared by whoever sees what stands in for it.
    showing: OwnedFd,
}

/// Where something lies, as far as that decides what may be done to it.
#[derive(Debug)]
enum Standing {
    /// Outside of what is looked after here.
    Elsewhere,
    /// In what is held back already, or that itself.
    Unit,
    /// In a workspace.
    Ruled(Ruling),
}

impl Broker {
    /// A broker, and what its commands send their listeners to. The roots are still as the host has them.
    pub(crate) fn new(fence: &Fence) -> io::Result<(Self, OwnedFd)> {
        let (arriving, sending) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let mut paths: Vec<&Path> = guarded(fence).collect();
        // The innermost first.
        paths.sort_unstable_by_key(|path| std::cmp::Reverse(path.as_os_str().len()));
        paths.dedup();
        let root = |path: &Path| Ok(Root { path: path.to_owned(), real: mounts::copy(path)?, store: None });
        let roots = paths.into_iter().map(root).collect::<io::Result<Vec<_>>>()?;
        let named = repository::named_as_code(&roots);
        let broker = Broker {
            roots,
            kept: fence
                .protected
                .iter()
                .chain(&fence.hidden)
                .map(|path| mounts::path(path).to_owned())
                .collect(),
            granted: fence.named.iter().map(|path| mounts::path(path).to_owned()).collect(),
            named,
            grounds: Vec::new(),
            base: None,
            is_own_proc: fence.tier == Tier::Full,
            arriving,
            listener: None,
            units: Vec::new(),
            touched: BTreeSet::new(),
        };
        Ok((broker, sending))
    }

    /// Says where what is held back is kept.
    pub(crate) fn keep_in(&mut self, base: Option<OwnedFd>) {
        self.base = base;
    }

    /// Says where git may make linked trees beside a repository.
    pub(crate) fn build_on(&mut self, path: &Path, real: OwnedFd) {
        self.grounds.push((path.to_owned(), real));
    }

    /// Shows a command what is held back, before it starts.
    pub fn begin(&mut self) {
        for root in 0..self.roots.len() {
            self.show_all(root);
        }
    }

    /// Takes the listener of a command that has just started.
    pub fn listen(&mut self) {
        self.listener = notify::receive_listener(&self.arriving);
    }

    /// What wakes it.
    pub fn watched(&self) -> Option<BorrowedFd<'_>> {
        self.listener.as_ref().map(AsFd::as_fd)
    }

    /// Answers calls that wait.
    pub fn serve(&mut self) {
        let Some(listener) = self.listener.take() else { return };
        for _ in 0..AT_ONCE {
            let Some(call) = notify::Call::next(&listener) else { break };
            self.act(call, &listener);
        }
        self.settle_pointers();
        self.listener = (!notify::is_over(&listener)).then_some(listener);
    }

    /// The command is gone with all its processes: publishes what is harmless by now, and says what is held back of what it
    /// made.
    pub fn finish(&mut self) -> Vec<CString> {
        self.listener = None;
        let _ = notify::receive_listener(&self.arriving);
        self.show_again();
        self.settle_all();
        let touched = std::mem::take(&mut self.touched);
        let is_held = |path: &PathBuf| self.units.iter().any(|unit| unit.path == *path);
        let held: Vec<PathBuf> = touched.into_iter().filter(is_held).collect();
        self.hide_all();
        held.iter().filter_map(|path| CString::new(path.as_os_str().as_bytes()).ok()).collect()
    }

    /// Where a path stands; all of it but its last part leads there without links.
    fn standing(&self, path: &Path, making: Making) -> Standing {
        if self.units.iter().any(|unit| path.starts_with(&unit.path)) {
            return Standing::Unit;
        }
        let Some((index, _)) = self.root_of(path) else { return Standing::Elsewhere };
        let Some(root) = self.roots.get(index) else { return Standing::Elsewhere };
        let granted =
            self.granted.iter().filter(|place| path.starts_with(place) && place.starts_with(&root.path));
        let top = granted.max_by_key(|place| place.as_os_str().len()).unwrap_or(&root.path);
        let covers = |place: &&PathBuf| path.starts_with(place) && place.starts_with(top) && *place != top;
        if self.kept.iter().any(|place| covers(&place)) {
            return Standing::Ruled(Ruling::Kept);
        }
        if let Some(unit) = self.named.iter().find(covers) {
            return Standing::Ruled(Ruling::Held { unit: unit.clone(), kind: Kind::Code });
        }
        let relative = path.strip_prefix(top).unwrap_or(path);
        if !names::is_telling(relative) && !repository::is_inside_repository(top) {
            return Standing::Ruled(Ruling::Free);
        }
        let is_repository = |directory: &Path| {
            directory
                .strip_prefix(&root.path)
                .is_ok_and(|relative| repository::is_repository(&root.real, relative))
        };
        Standing::Ruled(names::rule(top, relative, making, is_repository))
    }

    /// Whether something that stays as it is lies below a directory, which then has to stay where it is.
    fn leads_to_kept(&self, directory: &Path) -> bool {
        self.kept.iter().any(|place| place.starts_with(directory) && self.root_of(place).is_some())
    }

    /// The innermost root that holds a path, by its number, and the way from there.
    fn root_of<'a>(&self, path: &'a Path) -> Option<(usize, &'a Path)> {
        let mut roots = self.roots.iter().enumerate();
        roots.find_map(|(index, root)| Some((index, path.strip_prefix(&root.path).ok()?)))
    }
}

/// What a broker looks after: all that may be written but what is a command's own anyway.
pub(crate) fn guarded(fence: &Fence) -> impl Iterator<Item = &Path> {
    let is_private = |path: &&Path| !PrivateDirectory::ALL.iter().any(|one| *path == Path::new(one.path));
    fence.writable.iter().map(|path| mounts::path(path)).filter(is_private)
}
