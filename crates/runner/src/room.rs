//! How much of its host a process may use.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};

use crate::{cgroup, meter};

/// How much of its host this process may use, together with everything that it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes of memory: the host's, or what a control group leaves of it.
    pub memory: u64,
    /// Processes and threads: what the host, a control group and the user's own limit leave.
    pub processes: u64,
    /// How many of those there are already.
    pub taken: u64,
}

impl Room {
    /// What this process finds.
    pub fn here() -> Self {
        let host = rustix::system::sysinfo();
        let memory = host.totalram.saturating_mul(host.mem_unit.into());
        let user = getrlimit(Resource::Nproc).current.unwrap_or(u64::MAX);
        let kernel = ["/proc/sys/kernel/threads-max", "/proc/sys/kernel/pid_max"];
        let kernel = kernel.into_iter().filter_map(|file| number(Path::new(file)));
        let pids = groups("pids");
        let most = kernel.chain(least(&pids, &["pids.max"])).fold(user, u64::min);
        let own = pids.first().and_then(|group| number(&group.join("pids.current")));
        Room {
            memory: least(&groups("memory"), &["memory.max", "memory.limit_in_bytes"])
                .map_or(memory, |limit| limit.min(memory)),
            processes: most,
            taken: own.or_else(tasks).unwrap_or_default(),
        }
    }
}

/// The groups that count what this process uses, its own first: those of the second version, or of the hierarchy that the
/// controller has in the first.
fn groups(controller: &str) -> Vec<PathBuf> {
    let own = meter::own_group(controller).or_else(|| cgroup::own_group().ok());
    let up = own.iter().flat_map(|own| own.ancestors());
    up.take_while(|group| group.join("cgroup.procs").exists()).map(Path::to_owned).collect()
}

/// The least of what such a file says in any of these groups. "max" is none.
fn least(groups: &[PathBuf], files: &[&str]) -> Option<u64> {
    let of = |group: &PathBuf| files.iter().find_map(|file| number(&group.join(file)));
    groups.iter().filter_map(of).min()
}

fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// How many processes and threads the host has, as it says with its load: `0.00 0.01 0.05 1/345 12345`.
fn tasks() -> Option<u64> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    load.split(' ').nth(3)?.split_once('/')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_and_not_more_than_the_host_has() {
        let Room { memory, processes, taken } = Room::here();
        let host = rustix::system::sysinfo();
        assert!(memory > 0 && memory <= host.totalram * u64::from(host.mem_unit), "{memory}");
        assert!(processes > 0 && processes <= 1 << 22 && taken > 0, "{processes} {taken}");
    }

    #[test]
    fn the_narrowest_group_counts_and_one_without_a_limit_does_not() {
        let place = tempfile::tempdir().unwrap();
        let (outer, inner) = (place.path().to_owned(), place.path().join("inner"));
        fs::create_dir(&inner).unwrap();
        fs::write(outer.join("pids.max"), "100\n").unwrap();
        fs::write(inner.join("pids.max"), "max\n").unwrap();
        let groups = [inner.clone(), outer];
        assert_eq!(least(&groups, &["pids.max"]), Some(100));
        fs::write(inner.join("pids.max"), "7\n").unwrap();
        assert_eq!(least(&groups, &["pids.max"]), Some(7));
        assert_eq!(least(&groups, &["memory.max", "memory.limit_in_bytes"]), None);
    }
}
