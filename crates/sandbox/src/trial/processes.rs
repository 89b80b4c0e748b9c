//! Acts against other processes.

use std::fs::{self, File};
use std::io::{self, Read};

use runward_model::Promise;

use super::{Entry, Stage, done};

pub(super) const ACTS: &[Entry] = &[
    ("signal another process", Promise::Processes, |stage| {
        // SAFETY: signal 0 only asks whether it could be sent.
        done(unsafe { libc::kill(stage.victim, 0) }.into())
    }),
    ("signal by handle", Promise::Processes, |stage| {
        // SAFETY: takes numbers only.
        done(unsafe { libc::syscall(libc::SYS_pidfd_open, stage.victim, 0) })
    }),
    ("trace another process", Promise::Processes, trace),
    ("read another process's memory", Promise::Processes, read_memory),
    ("read its variables", Promise::Processes, |stage| read(stage, "environ")),
    ("read its maps", Promise::Processes, |stage| read(stage, "maps")),
    ("read its command line", Promise::Processes, |stage| read(stage, "cmdline")),
    ("open its memory", Promise::Processes, |stage| {
        File::options().write(true).open(format!("/proc/{}/mem", stage.victim)).map(drop)
    }),
    ("list its descriptors", Promise::Processes, |stage| {
        fs::read_dir(format!("/proc/{}/fd", stage.victim)).map(drop)
    }),
    ("change its limits", Promise::Processes, |stage| {
        let nothing = std::ptr::null_mut();
        // SAFETY: asks for nothing and sets nothing; only whether it could.
        done(unsafe { libc::prlimit(stage.victim, libc::RLIMIT_CORE, std::ptr::null(), nothing) }.into())
    }),
    ("look into the first process", Promise::Processes, |_| {
        File::open("/proc/1/environ")?.read_to_end(&mut Vec::new()).map(drop)
    }),
    ("type into the terminal", Promise::Processes, |_| {
        // SAFETY: one live byte. Without a terminal this fails in another way than with one.
        done(unsafe { libc::ioctl(0, libc::TIOCSTI, c"x".as_ptr()) }.into())
    }),
];

fn read(stage: &Stage, file: &str) -> io::Result<()> {
    File::open(format!("/proc/{}/{file}", stage.victim))?.read_to_end(&mut Vec::new()).map(drop)
}

fn trace(stage: &Stage) -> io::Result<()> {
    // SAFETY: attaches without stopping and lets go at once.
    unsafe {
        done(libc::ptrace(libc::PTRACE_SEIZE, stage.victim, 0, 0))?;
        libc::ptrace(libc::PTRACE_DETACH, stage.victim, 0, 0);
    }
    Ok(())
}

fn read_memory(stage: &Stage) -> io::Result<()> {
    let mut byte = [0u8; 1];
    let local = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    let remote = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 0 };
    // SAFETY: a live buffer here, and nothing there: only whether it could.
    let read = unsafe { libc::process_vm_readv(stage.victim, &raw const local, 1, &raw const remote, 1, 0) };
    done(read.try_into().unwrap_or(-1))
}
