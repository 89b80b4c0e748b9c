//! Acts against the kernel's insides.

use std::io;

use runward_model::Promise;

use super::{Entry, Stage, apart, done};

pub(super) const ACTS: &[Entry] = &[
    ("mount", Promise::Kernel, mount),
    ("make a user namespace", Promise::Kernel, |_| apart(|| crate::namespaces::unshare(libc::CLONE_NEWUSER))),
    ("clone into a user namespace", Promise::Kernel, |_| {
        let child = crate::fork::fork(libc::CLONE_NEWUSER)?;
        if child == 0 {
            crate::fork::exit(0);
        }
        crate::fork::wait(child);
        Ok(())
    }),
    ("clone anew into a user namespace", Promise::Kernel, clone_anew),
    ("change the root", Promise::Kernel, |stage| apart(|| std::os::unix::fs::chroot(stage.base.as_path()))),
    ("load a filter program", Promise::Kernel, |_| call(libc::SYS_bpf, [5, 0, 0])),
    ("make a ring", Promise::Kernel, make_ring),
    ("make a key", Promise::Kernel, |_| {
        // The session's own keyring.
        call(libc::SYS_keyctl, [0, -3, 0])
    }),
    ("handle own page faults", Promise::Kernel, |_| call(libc::SYS_userfaultfd, [1, 0, 0])),
    ("set the clock", Promise::Kernel, |_| {
        // SAFETY: with a bad clock nothing is set, whoever asks.
        not_permitted(unsafe { libc::syscall(libc::SYS_clock_settime, 9999, std::ptr::null::<u8>()) })
    }),
    ("restart", Promise::Kernel, |_| {
        // SAFETY: with a bad magic number nothing happens, whoever asks.
        not_permitted(unsafe { libc::syscall(libc::SYS_reboot, 0, 0, 0, 0) })
    }),
    ("load a module", Promise::Kernel, |_| {
        // SAFETY: with a bad descriptor nothing is loaded, whoever asks.
        not_permitted(unsafe { libc::syscall(libc::SYS_finit_module, -1, c"".as_ptr(), 0) })
    }),
    #[cfg(target_arch = "x86_64")]
    ("call by another numbering", Promise::Kernel, |_| {
        // SAFETY: asks for the process's own id.
        apart(|| not_refused(unsafe { libc::syscall(0x4000_0000 + libc::SYS_getpid) }))
    }),
    ("have a capability", Promise::Kernel, |_| {
        let status = std::fs::read_to_string("/proc/self/status")?;
        let none = |name: &str| {
            status
                .lines()
                .any(|line| line.strip_prefix(name).is_some_and(|set| set.trim().bytes().all(|b| b == b'0')))
        };
        let clean = ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"].into_iter().all(none);
        if clean { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
    }),
];

fn mount(stage: &Stage) -> io::Result<()> {
    let place = stage.work("");
    rustix::mount::mount("tmpfs", &place, "tmpfs", rustix::mount::MountFlags::empty(), None)?;
    Ok(rustix::mount::unmount(place, rustix::mount::UnmountFlags::DETACH)?)
}

fn call(number: libc::c_long, arguments: [libc::c_long; 3]) -> io::Result<()> {
    let [one, two, three] = arguments;
    // SAFETY: numbers only; at worst a descriptor is made, and this process ends soon.
    not_refused(unsafe { libc::syscall(number, one, two, three) })
}

/// Whether a call was at least looked at.
fn not_refused(result: libc::c_long) -> io::Result<()> {
    match done(result) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => Err(error),
        _ => Ok(()),
    }
}

/// The same for calls whose arguments are wrong on purpose.
fn not_permitted(result: libc::c_long) -> io::Result<()> {
    not_refused(result)
}

fn make_ring(_: &Stage) -> io::Result<()> {
    let mut parameters = [0u8; 120];
    // SAFETY: a live structure of the kernel's size, all zeros.
    not_refused(unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr()) })
}

fn clone_anew(_: &Stage) -> io::Result<()> {
    let arguments = [u64::from(libc::CLONE_NEWUSER.cast_unsigned()), 0, 0, 0, 17, 0, 0, 0];
    // SAFETY: without a stack and without shared memory this is fork, in a process with a single thread.
    let child = unsafe { libc::syscall(libc::SYS_clone3, arguments.as_ptr(), size_of_val(&arguments)) };
    if child == 0 {
        crate::fork::exit(0);
    }
    done(child)?;
    crate::fork::wait(i32::try_from(child).unwrap_or(-1));
    Ok(())
}
