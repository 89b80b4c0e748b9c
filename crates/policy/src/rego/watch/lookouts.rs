//! The directories in which a change can change a set of files.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

use crate::rego::sources;

/// Links behind links, further than the system follows them.
const MOST_LINKS: usize = 40;

/// Everything that adds, removes, replaces or rewrites a name in a directory, or makes it readable.
const CHANGES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// Which names in a directory matter.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Names {
    All,
    These(BTreeSet<OsString>),
}

/// The directories in which a change can change a set of files, watched.
#[derive(Debug)]
pub(super) struct Lookouts {
    inotify: OwnedFd,
    names: BTreeMap<i32, Names>,
}

impl Lookouts {
    /// Watches the directory, those below it, and every place where a link on the way can be changed.
    pub(super) fn around(directory: &Path) -> Result<Self, Errno> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let mut names = BTreeMap::new();
        for (place, wanted) in places(directory) {
            match inotify::add_watch(&inotify, &place, CHANGES) {
                Ok(watch) => {
                    join(names.entry(watch).or_insert_with(|| Names::These(BTreeSet::new())), wanted);
                }
                // Whatever makes it appear is seen by the directory above it.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Lookouts { inotify, names })
    }

    /// Takes everything that was reported, and says whether any of it matters.
    pub(super) fn saw_a_change(&self) -> bool {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&self.inotify, &mut buffer);
        let mut matters = false;
        while let Ok(event) = reader.next() {
            let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
            let lost = event.events().contains(ReadFlags::QUEUE_OVERFLOW);
            matters |= lost || self.is_of_interest(event.wd(), name);
        }
        matters
    }

    fn is_of_interest(&self, watch: i32, name: Option<&OsStr>) -> bool {
        match (self.names.get(&watch), name) {
            (Some(Names::These(names)), Some(name)) => names.contains(name),
            (Some(_), _) => true,
            (None, _) => false,
        }
    }
}

impl AsFd for Lookouts {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}

fn join(known: &mut Names, more: Names) {
    match (known, more) {
        (Names::These(known), Names::These(more)) => known.extend(more),
        (known, Names::All) => *known = Names::All,
        (Names::All, Names::These(_)) => {}
    }
}

fn places(directory: &Path) -> Vec<(PathBuf, Names)> {
    let mut places = Vec::new();
    for inside in sources::directories(directory) {
        places.push((inside.clone(), Names::All));
        steps_to(&inside, &mut places);
    }
    steps_to(directory, &mut places);
    // What cannot be read may still lead somewhere: a dangling link is mended at its other end.
    for file in sources::files(directory).iter().chain(&dangling(directory)) {
        steps_to(file, &mut places);
    }
    places
}

fn dangling(directory: &Path) -> Vec<PathBuf> {
    let entries = directory.read_dir().into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_symlink() && !path.exists()).collect()
}

/// Every directory in which a step of the way to a path is looked up, links followed one by one.
fn steps_to(path: &Path, places: &mut Vec<(PathBuf, Names)>) {
    let mut links = 0;
    let mut at = PathBuf::from("/");
    let mut ahead: Vec<OsString> = reversed(path);
    while let Some(step) = ahead.pop() {
        if step == ".." {
            at.pop();
            continue;
        }
        places.push((at.clone(), Names::These(BTreeSet::from([step.clone()]))));
        let next = at.join(&step);
        match next.read_link() {
            Ok(target) if links < MOST_LINKS => {
                links += 1;
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                ahead.extend(reversed(&target));
            }
            _ => at = next,
        }
    }
}

fn reversed(path: &Path) -> Vec<OsString> {
    let steps = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let mut steps: Vec<OsString> = steps.collect();
    steps.reverse();
    steps
}
