//! Limits that a whole session shares: the memory and pids controllers of control groups, of either version.

#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use runward_model::{LimitHit, Limits};
use rustix::fs::{Mode, OFlags};

/// Where a controller is to be had.
#[derive(Clone)]
enum Location {
    /// In the session's own group.
    Unified,
    /// In a hierarchy of its own, below this directory.
    Separate(PathBuf),
}

/// The controllers of this host, tried once.
#[derive(Clone, Default)]
pub(crate) struct Controllers {
    memory: Option<Location>,
    pids: Option<Location>,
}

/// What holds one session to its limits, and tells when it ran into one.
#[derive(Default)]
pub(crate) struct Meter {
    /// Its `cgroup.procs`, open: whoever writes to one joins that group.
    procs_files: Vec<OwnedFd>,
    /// Groups that exist for this session alone.
    groups: Vec<PathBuf>,
    counters: Vec<Counter>,
}

/// A file that counts how often a limit was hit, the word it uses for that, and what it means.
struct Counter {
    path: PathBuf,
    word: &'static str,
    hit: LimitHit,
    /// Kept, since it is asked after every command.
    file: OnceCell<File>,
}

impl Controllers {
    /// Those that can be had below `base`, a group of the second version, or in hierarchies of the first.
    pub(crate) fn try_here(base: &Path) -> Self {
        let _ = fs::write(base.join("cgroup.subtree_control"), "+memory +pids");
        let enabled = fs::read_to_string(base.join("cgroup.subtree_control")).unwrap_or_default();
        let place = |name: &str| {
            if enabled.split_ascii_whitespace().any(|controller| controller == name) {
                return Some(Location::Unified);
            }
            separate(name).map(Location::Separate)
        };
        Controllers { memory: place("memory"), pids: place("pids") }
    }

    /// Applies `limits` to the session whose own group is `group`; returns those that no controller takes.
    pub(crate) fn apply(&self, limits: Limits, group: &Path) -> io::Result<(Meter, Limits)> {
        let mut meter = Meter::default();
        let mut left = limits;
        if let (Some(bytes), Some(place)) = (limits.memory, &self.memory) {
            let directory = meter.group(place, group)?;
            let (file, counter) = match place {
                Location::Unified => ("memory.max", "memory.events"),
                Location::Separate(_) => ("memory.limit_in_bytes", "memory.oom_control"),
            };
            fs::write(directory.join(file), bytes.to_string())?;
            // Without swap a limit on memory is one; hosts without swap accounting lack the file.
            let _ = fs::write(directory.join("memory.swap.max"), "0");
            meter.count(directory.join(counter), "oom_kill", LimitHit::Memory);
            left.memory = None;
        }
        if let (Some(count), Some(place)) = (limits.processes, &self.pids) {
            let directory = meter.group(place, group)?;
            fs::write(directory.join("pids.max"), count.to_string())?;
            meter.count(directory.join("pids.events"), "max", LimitHit::Processes);
            left.processes = None;
        }
        Ok((meter, left))
    }
}

impl Meter {
    /// What the first process has to join by itself: the `cgroup.procs` of groups that nobody is born into.
    pub(crate) fn procs_files(&self) -> Vec<BorrowedFd<'_>> {
        self.procs_files.iter().map(AsFd::as_fd).collect()
    }

    /// The limit that was hit, if any.
    pub(crate) fn hit(&self) -> Option<LimitHit> {
        self.counters.iter().find(|counter| counter.value() > 0).map(|counter| counter.hit)
    }

    /// Whether the session's own group carries limits now, so that it cannot serve another one.
    pub(crate) fn is_in_use(&self) -> bool {
        !self.counters.is_empty()
    }

    fn count(&mut self, path: PathBuf, word: &'static str, hit: LimitHit) {
        self.counters.push(Counter { path, word, hit, file: OnceCell::new() });
    }

    fn group(&mut self, place: &Location, own: &Path) -> io::Result<PathBuf> {
        let Location::Separate(parent) = place else { return Ok(own.to_owned()) };
        let name = own.file_name().unwrap_or_default();
        let runner = own.parent().and_then(Path::file_name).unwrap_or_default();
        let directory = parent.join(format!("{}-{}", runner.to_string_lossy(), name.to_string_lossy()));
        fs::create_dir(&directory)?;
        self.groups.push(directory.clone());
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        self.procs_files.push(rustix::fs::open(directory.join("cgroup.procs"), flags, Mode::empty())?);
        Ok(directory)
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.procs_files.clear();
        for group in &self.groups {
            let _ = fs::remove_dir(group);
        }
    }
}

/// This process's group in the hierarchy of a controller of the first version.
pub(crate) fn own_group(controller: &str) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let point = mount_point(&mounts, controller)?;
    let inside = Path::new(point).join(own_path(&groups, controller)?.trim_start_matches('/'));
    Some(if inside.is_dir() { inside } else { PathBuf::from(point) })
}

/// The same if groups may be made in it.
fn separate(controller: &str) -> Option<PathBuf> {
    let place = own_group(controller)?;
    let trial = place.join(format!("runward-trial-{}", std::process::id()));
    fs::create_dir(&trial).ok()?;
    fs::remove_dir(&trial).ok()?;
    Some(place)
}

/// Where a text like `mountinfo` says that the hierarchy of a controller is mounted.
fn mount_point<'a>(mounts: &'a str, controller: &str) -> Option<&'a str> {
    mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        let options = kind.strip_prefix("cgroup ")?.split(' ').nth(1)?;
        let has = options.split(',').any(|option| option == controller);
        has.then(|| mount.split(' ').nth(4)).flatten()
    })
}

/// The group of a process in that hierarchy, as a text like `/proc/self/cgroup` says.
fn own_path<'a>(groups: &'a str, controller: &str) -> Option<&'a str> {
    groups.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        controllers.split(',').any(|name| name == controller).then_some(path)
    })
}

impl Counter {
    /// The number after its word, of `word number` lines.
    fn value(&self) -> u64 {
        if self.file.get().is_none()
            && let Ok(file) = File::open(&self.path)
        {
            let _ = self.file.set(file);
        }
        let mut chunk = [0; 512];
        let read = self.file.get().and_then(|file| file.read_at(&mut chunk, 0).ok()).unwrap_or_default();
        let text = str::from_utf8(chunk.get(..read).unwrap_or_default()).unwrap_or_default();
        number_after(self.word, text).unwrap_or(0)
    }
}

/// The number in the line of a word, in a text of lines like that.
pub(crate) fn number_after(word: &str, text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' ')?.trim().parse().ok())
}
