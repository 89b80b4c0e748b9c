//! The runner's own signals: `SIGCHLD` as a descriptor, the rest ignored or default, nothing passed on to children.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Signals that must not end the runner: it ends when its socket does, after everything else.
const IGNORED: [libc::c_int; 5] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGPIPE];

/// The last signal number of Linux.
const LAST: libc::c_int = 64;

/// Readable when a child has changed state.
pub(crate) struct ChildSignal(OwnedFd);

impl ChildSignal {
    /// Resets every disposition, ignores what must not end the runner, and turns `SIGCHLD` into a descriptor.
    pub(crate) fn take_over() -> io::Result<Self> {
        (1..=LAST).for_each(restore);
        for signal in IGNORED {
            // SAFETY: ignoring runs no code on a signal.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
        let mask = only(libc::SIGCHLD);
        // SAFETY: `mask` is an initialised signal set; the previous mask is not asked for.
        if unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const mask, std::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: -1 asks for a new descriptor; `mask` is an initialised signal set.
        let fd = unsafe { libc::signalfd(-1, &raw const mask, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` was just made and has no other owner.
        Ok(ChildSignal(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Forgets what has been signalled so far; the caller then looks at every child.
    pub(crate) fn clear(&self) {
        let mut record = [0u8; size_of::<libc::signalfd_siginfo>() * 4];
        while rustix::io::read(&self.0, &mut record).is_ok_and(|read| read > 0) {}
    }
}

impl AsFd for ChildSignal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for ChildSignal {
    fn as_raw_fd(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

/// In a new child, just before exec: every signal at its default and none blocked. Async-signal-safe.
pub(crate) fn reset_in_child() {
    IGNORED.into_iter().for_each(restore);
    let mut mask = std::mem::MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set that sigprocmask then reads; both are async-signal-safe.
    unsafe {
        libc::sigemptyset(mask.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, mask.as_ptr(), std::ptr::null_mut());
    }
}

/// Back to the default, by the system call itself: the C library hides two signals that a parent may have ignored.
fn restore(signal: libc::c_int) {
    // The kernel's own structure, all zero: the default action, no flags, no mask.
    let default = [0u64; 4];
    // SAFETY: the kernel reads at most the 32 bytes given; KILL and STOP fail, harmlessly. Async-signal-safe.
    unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), 0, 8) };
}

fn only(signal: libc::c_int) -> libc::sigset_t {
    let mut mask = std::mem::MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set before sigaddset changes it.
    unsafe {
        libc::sigemptyset(mask.as_mut_ptr());
        libc::sigaddset(mask.as_mut_ptr(), signal);
        mask.assume_init()
    }
}
