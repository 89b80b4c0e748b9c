//! What a fresh install survives: nobody has set a limit, and a command takes whatever there is. Each test has a host of its
//! own, a control group that is a small one, so that nothing else is harmed should nothing hold.

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use runward_testkit::mcp::{Client, Era, StdioClient};
use runward_testkit::{eventually, skipped};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::Program;

const NOBODY: u32 = 65534;
const MEMORY: u64 = 1 << 30;
const PROCESSES: u64 = 600;

/// Where controllers of either version may be, and what their limits are called.
const PLACES: [(&str, &str, u64); 4] = [
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", MEMORY),
    ("/sys/fs/cgroup/pids", "pids.max", PROCESSES),
    ("/sys/fs/cgroup", "memory.max", MEMORY),
    ("/sys/fs/cgroup", "pids.max", PROCESSES),
];

/// A group with little memory and few processes. Whoever is left in it is ended with it.
struct SmallHost(Vec<PathBuf>);

impl SmallHost {
    /// `None`, aloud, where this host lets nobody make one.
    fn make() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("runward-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut host = SmallHost(Vec::new());
        let mut limited = 0;
        for (place, file, most) in PLACES {
            let group = Path::new(place).join(&name);
            // Not a file system of groups at all, but what their hierarchies are mounted in.
            if !Path::new(place).join("cgroup.procs").exists() {
                continue;
            }
            let made = group.is_dir() || fs::create_dir(&group).is_ok();
            if made && !host.0.contains(&group) {
                host.0.push(group.clone());
            }
            limited += usize::from(fs::write(group.join(file), most.to_string()).is_ok());
            let _ = fs::write(group.join("memory.swap.max"), "0");
        }
        if limited < 2 {
            skipped("this host lets nobody make a control group that holds memory and processes");
        }
        (limited >= 2).then_some(host)
    }

    /// What a shell does to move there.
    fn entering(&self) -> String {
        let enter = |group: &PathBuf| format!("echo $$ > {}/cgroup.procs", group.display());
        self.0.iter().map(enter).collect::<Vec<_>>().join(" && ")
    }
}

impl Drop for SmallHost {
    fn drop(&mut self) {
        for group in &self.0 {
            let _ = fs::write(group.join("cgroup.kill"), "1");
            let gone = || {
                let inside = fs::read_dir(group).into_iter().flatten().flatten().map(|entry| entry.path());
                let inside: Vec<PathBuf> = inside.filter(|path| path.is_dir()).collect();
                for group in inside.iter().chain([group]) {
                    let members = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
                    for member in
                        members.lines().filter_map(|pid| rustix::process::Pid::from_raw(pid.parse().ok()?))
                    {
                        let _ = rustix::process::kill_process(member, rustix::process::Signal::KILL);
                    }
                    let _ = fs::remove_dir(group);
                }
                !group.exists()
            };
            // A test that fails says why by itself.
            if std::thread::panicking() {
                gone();
            } else {
                eventually("nobody is left in the group", gone);
            }
        }
    }
}

/// A server with no settings but what may run, on a small host.
struct Fresh {
    client: StdioClient,
    place: TempDir,
    _host: SmallHost,
}

impl Fresh {
    fn start(as_nobody: bool) -> Option<Self> {
        let host = SmallHost::make()?;
        let directory = runward_testkit::seen_by_the_confined(env!("CARGO_TARGET_TMPDIR"));
        let place = tempfile::tempdir_in(directory).unwrap();
        let mut first = host.entering();
        if as_nobody {
            chown(place.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            first += " && set -- setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\"";
        }
        let program = Program::new(&["stdio"]).env("ALLOWED_COMMANDS", "*").env("HOME", place.path());
        let program = program.env("XDG_STATE_HOME", place.path().join("state"));
        let program = program.env("RUNWARD_SANDBOX_WRITABLE_ROOTS", "/nowhere/at/all");
        let program = program.after(&first).current_dir(place.path());
        let client = StdioClient::start(program.into_command(), Era::Modern);
        Some(Fresh { client, place, _host: host })
    }

    fn call(&mut self, line: &str) -> Value {
        self.client.call("shell", json!({ "command": line }))["result"].take()
    }

    /// What becomes of a command, and of another one that is asked for when the first has made this file.
    fn beside(&mut self, line: &str) -> (Value, Value) {
        let mark = self.place.path().join("begun");
        let _ = fs::remove_file(&mark);
        let first = self.begin(&format!("touch begun; {line}"));
        eventually("the command has begun", || mark.exists());
        let second = self.begin("echo served");
        let second = self.answer(second);
        (self.answer(first), second)
    }

    fn begin(&mut self, line: &str) -> u64 {
        let params = json!({ "name": "shell", "arguments": { "command": line } });
        self.client.begin("tools/call", params)
    }

    fn answer(&mut self, id: u64) -> Value {
        self.client.messages(id).pop().unwrap()["result"].take()
    }
}

fn users() -> &'static [bool] {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skipped("only root can become another user, and make a small host");
    }
    if is_root { &[false, true] } else { &[] }
}

fn held(line: &str, reason: &str) {
    for as_nobody in users() {
        let Some(mut fresh) = Fresh::start(*as_nobody) else { return };
        let (taken, served) = fresh.beside(line);
        assert_eq!(served["structuredContent"]["stdout"], "served\n", "as nobody: {as_nobody}: {served:#}");
        let told = taken.to_string();
        assert!(told.contains(reason), "as nobody: {as_nobody}: {taken:#}");
        let after = fresh.call("echo still here");
        assert_eq!(after["structuredContent"]["stdout"], "still here\n", "{after:#}");
    }
}

#[test]
fn a_fork_bomb_is_held_and_its_neighbour_is_served() {
    held("mkfifo wait; b() { b | b & }; b; read -t 3 x <> wait; (:); exit 3", "see limits.processes");
}

#[test]
fn a_command_that_takes_all_memory_is_ended_and_its_neighbour_is_served() {
    held("head -c 4G /dev/zero | tail", "see limits.memory");
}

#[test]
fn many_that_take_all_memory_together_are_ended_and_their_neighbour_is_served() {
    held("for i in {1..30}; do head -c 1G /dev/zero | tail & done; wait; exit 137", "see limits.memory");
}

#[test]
fn private_temporary_files_fill_up_before_the_memory_does() {
    for place in ["/tmp", "/dev/shm"] {
        held(&format!("head -c 4G /dev/zero > {place}/filler"), "see sandbox.temporary_size");
    }
}

#[test]
fn a_flood_of_output_is_counted_and_its_neighbour_is_served() {
    held("yes | head -c 1G", "output_id");
}

#[test]
fn a_file_does_not_take_the_whole_disk() {
    let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = Program::new(&["stdio"]).env("ALLOWED_COMMANDS", "*").env("ALLOWED_CWD_ROOTS", disk.path());
    let Some(program) = program.on_small_disk(disk.path(), 300 << 10) else {
        return skipped("this host lets nobody mount a small disk");
    };
    let mut client = StdioClient::start(program.into_command(), Era::Modern);
    let line = "head -c 250M /dev/zero > filler; stat -c %s filler; exit 9";
    let arguments = json!({ "command": line, "working_directory": disk.path() });
    let told = client.call("shell", arguments).to_string();
    assert!(told.contains("see limits.file_size"), "{told}");
}

#[test]
fn who_wants_more_says_so() {
    let program = Program::new(&["stdio"]).env("ALLOWED_COMMANDS", "*");
    let program = program.env("RUNWARD_LIMITS_FILE_SIZE", "0B").env("RUNWARD_SANDBOX_TEMPORARY_SIZE", "1MiB");
    let mut client = StdioClient::start(program.into_command(), Era::Modern);
    let told =
        client.call("shell", json!({ "command": "ulimit -f; head -c 2M /dev/zero > /dev/shm/x; exit 3" }));
    let told = told["result"].to_string();
    assert!(told.contains("unlimited") && told.contains("sandbox.temporary_size"), "{told}");
}
