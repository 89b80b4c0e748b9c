//! Real processes, made as those of commands are.

use std::ffi::{CStr, OsStr};
use std::io::Read;
use std::os::fd::AsFd;
use std::path::Path;

use runward_model::wire::Planned;
use runward_model::{Fence, Signal};
use rustix::fs::{Mode, OFlags};

use super::*;
use crate::{procfs, reap};

struct Sample<'a>(&'a str, &'a [&'a str]);

impl Planned for Sample<'_> {
    fn program(&self) -> &Path {
        Path::new(self.0)
    }

    fn argv(&self) -> impl Iterator<Item = &[u8]> {
        self.1.iter().map(|argument| argument.as_bytes())
    }

    fn env(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        [(OsStr::new("NAME"), OsStr::new("its value"))].into_iter()
    }

    fn limits(&self) -> Limits {
        Limits::default()
    }

    fn fence(&self) -> Option<&Fence> {
        None
    }
}

pub(crate) fn launch(program: &str, argv: &[&str]) -> Launch {
    Launch::new(&Sample(program, argv)).unwrap()
}

/// Four descriptors for a child in `directory`, and where its output can be read.
fn descriptors(directory: &str) -> (Vec<OwnedFd>, std::io::PipeReader) {
    let (read, write) = std::io::pipe().unwrap();
    let open = |path: &str| rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    let stderr = write.try_clone().unwrap();
    (vec![open(directory), open("/dev/null"), write.into(), stderr.into()], read)
}

/// Runs it: what it printed, and how `wait` says that it ended.
fn run(launch: &Launch, directory: &str, bounds: &Bounds<'_>) -> Result<(String, i32), Failure> {
    let (fds, mut output) = descriptors(directory);
    let pid = spawn(&launch.parts().unwrap(), &fds, bounds, &mut Stack::new())?;
    drop(fds);
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    let mut status = 0;
    // SAFETY: waits for the child just made; `status` is a live local.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    Ok((text, status))
}

/// How many descriptors every child of this process inherits; a runner has closed those.
fn inherited() -> usize {
    let stays = |fd: i32| {
        // SAFETY: asks for a number; one that is not open is refused.
        let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
        flags >= 0 && flags & libc::FD_CLOEXEC == 0
    };
    (3..1024).filter(|fd| stays(*fd)).count()
}

fn shell(script: &str) -> Launch {
    launch("/bin/sh", &["sh", "-c", script, "zero", "a b"])
}

#[test]
fn a_child_has_what_its_launch_says_and_nothing_else() {
    let script = "echo \"$PWD:$1:$NAME\"; ls -l /proc/self/fd | grep -c ' [0-9]* ->'; exit 7";
    let (text, status) = run(&shell(script), "/usr", &Bounds::default()).unwrap();
    // Descriptors 0 to 2, the one with which `ls` reads, and what this test was itself started with.
    assert_eq!(text, format!("/usr:a b:its value\n{}\n", 4 + inherited()));
    assert_eq!(reap::ending(status), runward_model::Ending::Exited(7));
}

#[test]
fn a_child_leads_a_session_and_takes_signals_as_they_are() {
    let script =
        "read _ _ _ _ group session _ < /proc/self/stat; [ $$ = $group ] && [ $$ = $session ] && kill $$";
    let (text, status) = run(&shell(script), "/", &Bounds::default()).unwrap();
    assert_eq!((text.as_str(), reap::ending(status)), ("", runward_model::Ending::Signaled(Signal::TERM)));
}

#[test]
fn limits_that_no_group_takes_are_set_before_it_executes() {
    let limits = Limits { open_files: Some(16), ..Limits::default() };
    let (text, _) = run(&shell("ulimit -n"), "/", &Bounds { limits, ..Bounds::default() }).unwrap();
    assert_eq!(text, "16\n");
}

#[test]
fn where_it_failed_is_told_with_the_systems_reason() {
    let failure = |launch: &Launch, directory: &str| {
        let failure = run(launch, directory, &Bounds::default()).unwrap_err();
        (failure.step, failure.errno)
    };
    let missing = launch("/nowhere/at/all", &["x"]);
    assert_eq!(failure(&missing, "/"), (Step::Exec, libc::ENOENT));
    assert_eq!(failure(&launch("/etc/passwd", &["x"]), "/"), (Step::Exec, libc::EACCES));
    assert_eq!(failure(&shell(":"), "/etc/passwd"), (Step::Cwd, libc::ENOTDIR));
    let none = spawn(&shell(":").parts().unwrap(), &[], &Bounds::default(), &mut Stack::new()).unwrap_err();
    assert_eq!((none.step, none.errno), (Step::Stdio, libc::EBADF));
}

#[test]
fn a_program_that_is_open_is_executed_whatever_its_path_says() {
    let (mut fds, mut output) = descriptors("/");
    let open = rustix::fs::open("/bin/sh", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
    fds.push(open);
    let launch = launch("/nowhere/at/all", &["sh", "-c", "echo ran"]).opened(Opened::Closes);
    let pid = spawn(&launch.parts().unwrap(), &fds, &Bounds::default(), &mut Stack::new()).unwrap();
    drop(fds);
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    assert_eq!(text, "ran\n");
    // SAFETY: reaps the child just made; its status is of no interest.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
}

#[test]
fn the_kernel_names_a_child_while_it_lives_and_calls_it_a_zombie_afterwards() {
    let (fds, output) = descriptors("/");
    let (read, write) = std::io::pipe().unwrap();
    let mut fds = fds;
    fds[SpawnFd::Stdin as usize] = read.into();
    let cat = launch("/bin/cat", &["cat"]);
    let pid = spawn(&cat.parts().unwrap(), &fds, &Bounds::default(), &mut Stack::new()).unwrap();
    let own = i32::try_from(std::process::id()).unwrap();
    assert!(procfs::descendants(own).contains(&pid) && !procfs::is_zombie(pid));
    assert_eq!(procfs::family(pid, 10), [pid]);
    drop((fds, write));
    // Its output ends when it does, a moment before it can be reaped.
    assert_eq!((&output).read(&mut [0]).unwrap(), 0);
    // SAFETY: waits for the child just made, and leaves it to be reaped.
    unsafe {
        let mut info = std::mem::zeroed();
        libc::waitid(libc::P_PID, pid.unsigned_abs(), &raw mut info, libc::WEXITED | libc::WNOWAIT);
    }
    assert!(procfs::is_zombie(pid));
    // SAFETY: reaps it.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
}

#[test]
fn lists_for_the_system_end_with_nothing_and_stacks_are_aligned() {
    let strings = [&b"a\0"[..], b"bc\0"];
    let pointers = pointers(&strings);
    assert_eq!(pointers.len(), 3);
    assert!(pointers[2].is_null());
    // SAFETY: points to a string with its NUL, which lives.
    assert_eq!(unsafe { CStr::from_ptr(pointers[1]) }, c"bc");
    let mut stack = Stack::new();
    let (start, size) = stack.area();
    assert_eq!((start.addr() + size) % 16, 0);
    assert!(size > STACK_SIZE - 16 && size <= STACK_SIZE);
}

#[test]
fn descriptors_of_groups_reach_the_kernel_in_the_callers_order() {
    let (fds, _output) = descriptors("/");
    let arguments = clone_vm::Arguments::new(libc::CLONE_NEWPID, Some(fds[0].as_fd()));
    assert_eq!(arguments.flags, u64::from(libc::CLONE_NEWPID.unsigned_abs()) | clone_vm::INTO_CGROUP);
    assert_eq!(arguments.cgroup, u64::from(fds[0].as_raw_fd().unsigned_abs()));
    assert_eq!(arguments.exit_signal, libc::SIGCHLD as u64);
    let plain = clone_vm::Arguments::new(0, None);
    assert_eq!((plain.flags, plain.cgroup, plain.stack), (0, 0, 0));
}
