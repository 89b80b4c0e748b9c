//! Making a process: a vfork-style clone that puts itself into place and executes.

#[cfg(test)]
pub(crate) mod tests;

use std::ffi::{c_char, c_void};
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use runward_model::Limits;
use runward_model::wire::{Launch, Opened, Parts, SpawnFd, Step, TEXT_FD};
use runward_sandbox::{Readable, Restrictions};

use crate::{clone_vm, rlimits, signals};

/// Room for the child's few frames before exec.
const STACK_SIZE: usize = 64 * 1024;

/// Why nothing was executed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure {
    /// At which step.
    pub(crate) step: Step,
    /// The system's error number.
    pub(crate) errno: i32,
}

impl Failure {
    pub(crate) fn last(step: Step) -> Self {
        Failure::of(step, &io::Error::last_os_error())
    }

    pub(crate) fn of(step: Step, error: &io::Error) -> Self {
        Failure { step, errno: error.raw_os_error().unwrap_or(libc::EIO) }
    }
}

/// A stack for children. One is enough: the runner sleeps until its child has executed.
pub(crate) struct Stack(Box<[u8]>);

impl Stack {
    pub(crate) fn new() -> Self {
        Stack(vec![0; STACK_SIZE].into_boxed_slice())
    }

    /// Where it begins, and how much of it there is: the ABI wants its end aligned to 16 bytes.
    pub(crate) fn area(&mut self) -> (*mut u8, usize) {
        let Range { start, end } = self.0.as_mut_ptr_range();
        (start, STACK_SIZE - end.addr() % 16)
    }
}

/// All that the child needs, made before the clone: it must not allocate.
struct Child {
    program: *const c_char,
    opened: Option<(RawFd, Opened)>,
    argv: Vec<*const c_char>,
    envp: Vec<*const c_char>,
    fds: [RawFd; 4],
    on_terminal: bool,
    /// Control groups of the older kind to join.
    joins: Vec<RawFd>,
    rlimits: Vec<(u32, libc::rlimit)>,
    restrictions: Option<*const Restrictions>,
    /// Written by the child, read by the runner once the child is gone.
    failure: Option<Failure>,
}

/// What a new process is bound by.
#[derive(Default)]
pub(crate) struct Bounds<'a> {
    /// The control group that it is born into.
    pub(crate) cgroup: Option<BorrowedFd<'a>>,
    /// The `cgroup.procs` of further groups, which it joins by itself.
    pub(crate) joins: Vec<BorrowedFd<'a>>,
    /// What no group holds it to.
    pub(crate) limits: Limits,
    /// What it is restricted by before it executes.
    pub(crate) restrictions: Option<&'a Restrictions>,
}

/// What a command that is confined without a sandbox is restricted by.
pub(crate) fn restrictions_of(
    launch: &Launch,
    readable: &mut Readable,
) -> Result<Option<Restrictions>, Failure> {
    let Some(fence) = launch.fence() else { return Ok(None) };
    match Restrictions::alone(fence, readable) {
        Ok(restrictions) => Ok(Some(restrictions)),
        Err(error) => Err(Failure::of(Step::Confine, &error)),
    }
}

/// Executes `parts` in a new process and returns its id once the program runs.
pub(crate) fn spawn(
    parts: &Parts<'_>,
    fds: &[OwnedFd],
    bounds: &Bounds<'_>,
    stack: &mut Stack,
) -> Result<i32, Failure> {
    let [cwd, stdin, stdout, stderr, program @ ..] = fds else {
        return Err(Failure { step: Step::Stdio, errno: libc::EBADF });
    };
    let opened = program.first().map(AsRawFd::as_raw_fd).zip(parts.opened);
    let mut child = Child {
        program: parts.program.as_ptr().cast(),
        opened,
        argv: pointers(&parts.argv),
        envp: pointers(&parts.env),
        fds: [cwd.as_raw_fd(), stdin.as_raw_fd(), stdout.as_raw_fd(), stderr.as_raw_fd()],
        on_terminal: parts.on_terminal,
        joins: bounds.joins.iter().map(AsRawFd::as_raw_fd).collect(),
        rlimits: rlimits::of(&bounds.limits),
        restrictions: bounds.restrictions.map(std::ptr::from_ref),
        failure: None,
    };
    // SAFETY: `start` runs on a stack of its own with `child`, which outlives it: CLONE_VFORK suspends this thread
    // until the child has executed or exited. The child shares this memory and only makes system calls.
    let pid = unsafe { clone_vm::clone(stack, bounds.cgroup, start, (&raw mut child).cast()) };
    if pid < 0 {
        return Err(Failure::last(Step::Clone));
    }
    // The child may have written it: it must be read from memory, not from what the compiler remembers.
    // SAFETY: `failure` is valid for reads and the child no longer runs in this memory.
    let failure = unsafe { (&raw const child.failure).read_volatile() };
    match failure {
        None => Ok(pid),
        Some(failure) => {
            // SAFETY: reaps the child that just failed; its status is of no interest.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
            Err(failure)
        }
    }
}

fn pointers(strings: &[&[u8]]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr().cast()).chain([std::ptr::null()]).collect()
}

extern "C" fn start(child: *mut c_void) -> ! {
    // SAFETY: `spawn` passes its own `Child`, which lives until this process has executed or exited.
    let child = unsafe { &mut *child.cast::<Child>() };
    child.failure = Some(become_program(child));
    // SAFETY: ends this process alone; nothing of the runner's is unwound or flushed.
    unsafe { libc::_exit(127) }
}

/// Returns only when something failed. Async-signal-safe: system calls only.
fn become_program(child: &Child) -> Failure {
    // SAFETY: plain system calls on descriptors and strings that `spawn` keeps alive. The descriptor table is this
    // process's own copy, so `dup2` and `fchdir` do not touch the runner.
    unsafe {
        for procs in &child.joins {
            if libc::write(*procs, c"0".as_ptr().cast(), 1) < 0 {
                return Failure::last(Step::Limit);
            }
        }
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::setsid();
        if libc::fchdir(child.fds[SpawnFd::Cwd as usize]) < 0 {
            return Failure::last(Step::Cwd);
        }
        let stdio = [SpawnFd::Stdin, SpawnFd::Stdout, SpawnFd::Stderr];
        for (target, source) in (0..).zip(stdio) {
            if libc::dup2(child.fds[source as usize], target) < 0 {
                return Failure::last(Step::Stdio);
            }
        }
        if child.on_terminal && libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
            return Failure::last(Step::Stdio);
        }
        for (resource, limit) in &child.rlimits {
            if libc::setrlimit(*resource, limit) < 0 {
                return Failure::last(Step::Limit);
            }
        }
        signals::reset_in_child();
        // After everything that it might forbid. `spawn` borrows the restrictions for as long as this runs.
        if let Some(restrictions) = child.restrictions
            && let Err(error) = (*restrictions).apply()
        {
            return Failure::of(Step::Confine, &error);
        }
        execute(child);
        Failure::last(Step::Exec)
    }
}

/// Returns only when it failed.
///
/// # Safety
/// As in `become_program`.
unsafe fn execute(child: &Child) {
    let (argv, envp) = (child.argv.as_ptr(), child.envp.as_ptr());
    // SAFETY: plain system calls on a descriptor and strings that `spawn` keeps alive.
    unsafe {
        match child.opened {
            None => {
                libc::execve(child.program, argv, envp);
            }
            Some((text, Opened::Read)) => {
                let kept = if text == TEXT_FD {
                    libc::fcntl(text, libc::F_SETFD, 0)
                } else {
                    libc::dup2(text, TEXT_FD)
                };
                if kept >= 0 {
                    libc::execve(child.program, argv, envp);
                }
            }
            Some((program, opened)) => {
                // The system tells an interpreter to read from this descriptor, which has to be there by then.
                if opened == Opened::Stays && libc::fcntl(program, libc::F_SETFD, 0) < 0 {
                    return;
                }
                libc::syscall(libc::SYS_execveat, program, c"".as_ptr(), argv, envp, libc::AT_EMPTY_PATH);
            }
        }
    }
}
