//! Collecting ended children.

use std::time::Duration;

use runward_model::{Ending, Signal, Usage};

/// A child that has ended.
pub(crate) struct Ended {
    pub(crate) pid: i32,
    pub(crate) ending: Ending,
    pub(crate) usage: Usage,
}

/// What `wait` says of this process's children.
pub(crate) enum Children {
    /// One has ended and is now reaped.
    Ended(Ended),
    /// One was stopped by a signal.
    Stopped(i32),
    /// There are some, all alive.
    Alive,
    /// There are none.
    Gone,
}

/// Reaps one ended child, without waiting.
pub(crate) fn next() -> Children {
    let mut status = 0;
    // SAFETY: rusage is plain data for which all zeros is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live locals; -1 means any child.
    let pid = unsafe { libc::wait4(-1, &raw mut status, libc::WNOHANG | libc::WUNTRACED, &raw mut usage) };
    match pid {
        0 => Children::Alive,
        pid if pid < 0 => Children::Gone,
        pid if libc::WIFSTOPPED(status) => Children::Stopped(pid),
        pid => Children::Ended(Ended { pid, ending: ending(status), usage: summary(&usage) }),
    }
}

pub(crate) fn ending(status: i32) -> Ending {
    if libc::WIFSIGNALED(status) {
        Ending::Signaled(Signal(libc::WTERMSIG(status)))
    } else {
        Ending::Exited(libc::WEXITSTATUS(status))
    }
}

fn summary(usage: &libc::rusage) -> Usage {
    Usage {
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
        max_rss_kib: u64::try_from(usage.ru_maxrss).unwrap_or(0),
    }
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}
