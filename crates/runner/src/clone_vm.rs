//! The clone itself: memory shared, this thread asleep until the child has executed, born inside its control group.
//!
//! Being born there matters: moving a process into a group later takes a lock that waits for every processor.

use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::clone::Stack;

/// `CLONE_INTO_CGROUP` of `clone3`; too large for the flags of the older call.
pub(crate) const INTO_CGROUP: u64 = 0x2_0000_0000;

/// The kernel's `struct clone_args`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    pub(crate) exit_signal: u64,
    pub(crate) stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    pub(crate) cgroup: u64,
}

impl Arguments {
    pub(crate) fn new(flags: c_int, cgroup: Option<BorrowedFd<'_>>) -> Self {
        let group = cgroup.map_or(0, |fd| fd.as_raw_fd().unsigned_abs().into());
        let flags = u64::from(flags.unsigned_abs()) | if cgroup.is_some() { INTO_CGROUP } else { 0 };
        Arguments { flags, exit_signal: libc::SIGCHLD as u64, cgroup: group, ..Arguments::default() }
    }
}

/// What a child runs first, on its own stack. It never returns.
pub(crate) type Entry = extern "C" fn(*mut c_void) -> !;

/// Makes a child that shares this memory and runs `entry(argument)`; returns its id, or less than 0, once it has
/// executed or exited.
///
/// # Safety
/// `argument` lives until then, and `entry` only makes system calls with it.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn clone(
    stack: &mut Stack,
    cgroup: Option<BorrowedFd<'_>>,
    entry: Entry,
    argument: *mut c_void,
) -> i32 {
    let (start, size) = stack.area();
    let arguments = Arguments {
        stack: start.expose_provenance() as u64,
        stack_size: size as u64,
        ..Arguments::new(libc::CLONE_VM | libc::CLONE_VFORK, cgroup)
    };
    let result: i64;
    // SAFETY: as `clone3` demands: `arguments` is valid, and the child continues on a stack of its own, where it
    // calls `entry` and never comes back. The registers that a system call changes are named.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r8",
            "call r9",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 => result,
            in("rdi") &raw const arguments,
            in("rsi") size_of::<Arguments>(),
            in("r8") argument,
            in("r9") entry,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    outcome(result)
}

#[cfg(target_arch = "x86_64")]
fn outcome(result: i64) -> i32 {
    let code = i32::try_from(result).unwrap_or(-libc::EIO);
    if code < 0 {
        // SAFETY: sets this thread's error number, as a C library's wrapper would.
        unsafe { *libc::__errno_location() = -code };
    }
    code
}

/// The same with the C library's older call: the child is asked to join its group before anything else.
///
/// # Safety
/// As above.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) unsafe fn clone(
    stack: &mut Stack,
    cgroup: Option<BorrowedFd<'_>>,
    entry: Entry,
    argument: *mut c_void,
) -> i32 {
    struct Start(Entry, *mut c_void, c_int);
    extern "C" fn start(start: *mut c_void) -> c_int {
        // SAFETY: the caller below passes its own `Start`, which lives until this process has executed or exited.
        let Start(entry, argument, cgroup) = unsafe { &*start.cast::<Start>() };
        if *cgroup >= 0 {
            // SAFETY: plain system calls on an open descriptor.
            unsafe {
                let procs = libc::openat(*cgroup, c"cgroup.procs".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
                if libc::write(procs, c"0".as_ptr().cast(), 1) != 1 {
                    libc::_exit(127);
                }
            }
        }
        entry(*argument)
    }
    let (area, size) = stack.area();
    let mut first = Start(entry, argument, cgroup.map_or(-1, |fd| fd.as_raw_fd()));
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: `start` runs on a stack of its own; this thread sleeps until the child has executed or exited.
    unsafe { libc::clone(start, area.wrapping_add(size).cast(), flags, (&raw mut first).cast()) }
}

/// A fork with more flags, into a control group where one is given: 0 in the child.
pub(crate) fn fork(flags: c_int, cgroup: Option<BorrowedFd<'_>>) -> io::Result<i32> {
    let arguments = Arguments::new(flags, cgroup);
    // SAFETY: without CLONE_VM and without a stack this is fork; the runner is single-threaded, so its child may run
    // any code.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<Arguments>()) };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    i32::try_from(pid).map_err(io::Error::other)
}
