//! Capabilities: none are left, as root either.

use std::io;

/// The kernel's third version of `capset`, with 64 bits in two halves.
const VERSION: u32 = 0x2008_0522;

/// More than any kernel has; those that it does not know are refused, harmlessly.
const LAST: libc::c_ulong = 63;

/// Keeps whatever this process or its children execute from gaining any capability. Async-signal-safe.
pub(crate) fn bound() {
    for capability in 0..=LAST {
        // SAFETY: takes numbers only. Without the right to do so there is nothing to lose either.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) } < 0 {
            break;
        }
    }
}

/// While this is there, its thread has no more rights over files than what it serves; it may still mount, and look into
/// other processes.
#[derive(Debug)]
pub(crate) struct Lowered([u32; 6]);

/// What a broker needs beside what commands have: to look into processes, and to mount.
const NEEDED: u32 = 1 << 19 | 1 << 21;

/// Lowers what this thread may do; see [`Lowered`].
pub(crate) fn lower() -> Lowered {
    let mut held = [0u32; 6];
    let mut header = [VERSION, 0];
    // SAFETY: a header of two and data of six numbers, as this version has them; both live.
    unsafe { libc::syscall(libc::SYS_capget, header.as_mut_ptr(), held.as_mut_ptr()) };
    let mut lowered = held;
    // Effective ones come first in each half.
    lowered[0] &= NEEDED;
    lowered[3] = 0;
    set(&lowered);
    Lowered(held)
}

impl Drop for Lowered {
    fn drop(&mut self) {
        set(&self.0);
    }
}

fn set(data: &[u32; 6]) {
    let header = [VERSION, 0];
    // SAFETY: as above; without effect where it is refused, since nothing is raised that is not permitted.
    unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), data.as_ptr()) };
}

/// Takes every capability that this process has, for good. Async-signal-safe.
pub(crate) fn drop_all() -> io::Result<()> {
    let header = [VERSION, 0];
    let none = [0u32; 6];
    // SAFETY: a header of two and data of six numbers, as this version has them; both live.
    let done = unsafe {
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr())
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
