//! What the kernel's files say, and limits written to directories that stand for groups.

use super::*;

const MOUNTS: &str = "\
    30 23 0:26 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n\
    31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n\
    32 23 0:28 /docker/x /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory\n";

const GROUPS: &str = "5:memory:/docker/x\n4:cpu,cpuacct:/\n1:name=systemd:/a:b\n0::/session\n";

#[test]
fn a_controller_is_found_by_its_name_alone() {
    assert_eq!(mount_point(MOUNTS, "memory"), Some("/sys/fs/cgroup/memory"));
    assert_eq!(mount_point(MOUNTS, "cpuacct"), Some("/sys/fs/cgroup/cpu,cpuacct"));
    assert_eq!(mount_point(MOUNTS, "pids"), None);
    assert_eq!(mount_point("no mounts", "memory"), None);
    assert_eq!(own_path(GROUPS, "memory"), Some("/docker/x"));
    assert_eq!(own_path(GROUPS, "cpu"), Some("/"));
    assert_eq!(own_path(GROUPS, "name=systemd"), Some("/a:b"), "a path may hold anything");
    assert_eq!(own_path(GROUPS, "pids"), None);
}

#[test]
fn a_count_is_that_of_the_whole_word() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("memory.events");
    let count = |word| {
        let (path, hit) = (path.clone(), LimitHit::Memory);
        Counter { path, word, hit, file: OnceCell::new() }.value()
    };
    assert_eq!(count("oom_kill"), 0, "no file, no count");
    fs::write(&path, "oom 3\noom_kill_group 2\noom_kill 1\nmax x\n").unwrap();
    assert_eq!((count("oom"), count("oom_kill"), count("max")), (3, 1, 0));
}

fn limits() -> Limits {
    Limits { memory: Some(4096), processes: Some(5), open_files: Some(9), ..Limits::default() }
}

#[test]
fn what_no_controller_takes_is_left_to_the_process() {
    let directory = tempfile::tempdir().unwrap();
    let (meter, left) = Controllers::default().apply(limits(), directory.path()).unwrap();
    assert_eq!(left, limits());
    assert!(!meter.is_in_use() && meter.hit().is_none());
}

#[test]
fn limits_are_written_to_the_sessions_own_group_and_read_back() {
    let group = tempfile::tempdir().unwrap();
    let read = |name: &str| fs::read_to_string(group.path().join(name)).unwrap();
    let controllers = Controllers { memory: Some(Location::Unified), pids: Some(Location::Unified) };
    let (meter, left) = controllers.apply(limits(), group.path()).unwrap();
    assert_eq!((read("memory.max"), read("pids.max")), ("4096".into(), "5".into()));
    assert_eq!(left, Limits { open_files: Some(9), ..Limits::default() });
    assert!(meter.is_in_use() && meter.procs_files().is_empty(), "it is born there");
    assert_eq!(meter.hit(), None);
    fs::write(group.path().join("pids.events"), "max 1\n").unwrap();
    assert_eq!(meter.hit(), Some(LimitHit::Processes));
    fs::write(group.path().join("memory.events"), "oom_kill 1\n").unwrap();
    assert_eq!(meter.hit(), Some(LimitHit::Memory), "which is why the processes ran out");
}

#[test]
fn a_hierarchy_of_its_own_gets_a_group_that_has_to_exist() {
    let (parent, own) = (tempfile::tempdir().unwrap(), Path::new("/sys/fs/cgroup/runward-1-2/3"));
    let memory = Some(Location::Separate(parent.path().into()));
    let controllers = Controllers { memory, pids: None };
    // In a directory like any other there is no file to join by, so it fails, and leaves nothing behind.
    assert!(controllers.apply(limits(), own).is_err());
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
}
