//! Control groups of commands: those below a runner's.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// More groups than this are not looked at; whoever is in one of the others is known by descent.
const MOST: usize = 1 << 14;

/// Which control groups are those of commands. What was found out about one stays so: a group is never moved, and its
/// number is never given to another.
#[derive(Debug, Default)]
pub(super) struct Groups {
    known: HashMap<u64, bool>,
}

/// Where control groups of version 2 are.
#[derive(Debug)]
struct Place {
    mount: PathBuf,
    /// The server's own group, below the root.
    own: PathBuf,
}

impl Groups {
    /// Whether the group with this number is one of commands. One that is not to be seen is none: theirs lie below the
    /// server's own.
    pub(super) fn is_of_commands(&mut self, group: u64) -> bool {
        if let Some(known) = self.known.get(&group) {
            return *known;
        }
        if self.known.len() > MOST {
            self.known.clear();
        }
        if let Some(place) = Place::find() {
            self.known.extend(place.all());
        }
        *self.known.entry(group).or_insert(false)
    }
}

/// The server's own group, which theirs are held against.
pub(super) struct Membership(Option<PathBuf>);

impl Membership {
    pub(super) fn of_this_process() -> Self {
        Membership(group_of("self"))
    }

    /// Whether a process is in a group of commands; `None` when it is gone.
    pub(super) fn counts(&self, pid: i32) -> Option<bool> {
        // Without groups of version 2 there are none that it could be in.
        let Membership(Some(own)) = self else { return Some(false) };
        Some(is_of_commands(own, &group_of(&pid.to_string())?))
    }
}

impl Place {
    fn find() -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        Some(Place { mount: mounts.lines().find_map(cgroup2_mount)?, own: group_of("self")? })
    }

    /// Every group that can be seen, by its number.
    fn all(&self) -> HashMap<u64, bool> {
        let mut found = HashMap::new();
        let mut open = vec![PathBuf::from("/")];
        while let Some(group) = open.pop().filter(|_| found.len() < MOST) {
            let directory = self.mount.join(group.strip_prefix("/").unwrap_or(&group));
            let Ok(about) = fs::metadata(&directory) else { continue };
            found.insert(about.ino(), is_of_commands(&self.own, &group));
            let inner = fs::read_dir(&directory).into_iter().flatten().flatten();
            let inner = inner.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            open.extend(inner.map(|entry| group.join(entry.file_name())));
        }
        found
    }
}

/// The mount point of a `cgroup2` file system in a line of `mountinfo`.
fn cgroup2_mount(line: &str) -> Option<PathBuf> {
    let (mount, kind) = line.split_once(" - ")?;
    let point = mount.split(' ').nth(4)?;
    kind.starts_with("cgroup2 ").then(|| PathBuf::from(point))
}

/// The group of a process, as a path from the root.
fn group_of(process: &str) -> Option<PathBuf> {
    let groups = fs::read(format!("/proc/{process}/cgroup")).ok()?;
    let own = groups.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"0::"))?;
    Some(PathBuf::from(OsStr::from_bytes(own)))
}

/// Whether a group lies below a runner's that is not above the server itself.
fn is_of_commands(own: &Path, group: &Path) -> bool {
    let shared = own.components().zip(group.components()).take_while(|(own, other)| own == other).count();
    group.components().skip(shared).any(|part| is_runners(part.as_os_str().as_bytes()))
}

/// `runward-NAMESPACE-PID`, as a runner names its group.
fn is_runners(name: &[u8]) -> bool {
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let mut parts = name.split(|byte| *byte == b'-');
    parts.next() == Some(b"runward") && parts.clone().count() == 2 && parts.all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_commands(own: &str, group: &str) -> bool {
        is_of_commands(Path::new(own), Path::new(group))
    }

    #[test]
    fn a_group_below_a_runners_is_one_of_commands() {
        for group in ["/runward-40-7/0", "/runward-40-7", "/a/runward-40-7/0/deeper", "/b/runward-1-2/9"] {
            assert!(of_commands("/a", group), "{group}");
        }
        for group in [
            "/",
            "/a",
            "/a/b",
            "/runward",
            "/runward-x-7/0",
            "/runward-40/0",
            "/runward-40-7-7",
            "/xrunward-1-1",
        ] {
            assert!(!of_commands("/a", group), "{group}");
        }
    }

    #[test]
    fn runners_above_the_server_itself_do_not_count() {
        assert!(!of_commands("/runward-40-7/0", "/runward-40-7/0/x"));
        assert!(!of_commands("/runward-40-7/0", "/runward-40-7/1"));
        assert!(of_commands("/runward-40-7/0", "/runward-40-7/0/runward-41-9/3"));
        assert!(of_commands("/runward-40-7/0", "/runward-40-8/0"));
    }
}
