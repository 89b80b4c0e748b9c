//! Secrets in this process: those that arrive in the environment, and what is in its memory.

use std::ffi::{CStr, OsString, c_char};

/// Keeps other processes of the same user, the commands among them, from reading this one's memory or variables.
/// A process with the right to trace any other (root's, unless confined) is not kept.
pub fn guard_memory() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Takes a variable out of reach: returns its value, and overwrites it in this process's environment block, which
/// other processes of the same user could read from `/proc`.
///
/// Call it before there is any other thread.
pub fn take(name: &str) -> Option<OsString> {
    let value = std::env::var_os(name)?;
    // SAFETY: there is no other thread yet that could read or change the environment. Each entry of `environ` is a
    // NUL-terminated string in memory that this process may write; only bytes before the NUL are overwritten.
    unsafe {
        unsafe extern "C" {
            static environ: *const *mut c_char;
        }
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            wipe(*entry, name);
            entry = entry.add(1);
        }
        std::env::remove_var(name);
    }
    Some(value)
}

/// # Safety
/// `entry` is a NUL-terminated string that may be written.
unsafe fn wipe(entry: *mut c_char, name: &str) {
    // SAFETY: as promised by the caller.
    let length = unsafe { CStr::from_ptr(entry) }.to_bytes().len();
    // SAFETY: the same string, without its NUL, and nobody else looks at it.
    let bytes = unsafe { std::slice::from_raw_parts_mut(entry.cast::<u8>(), length) };
    if let Some(rest) = bytes.strip_prefix(name.as_bytes())
        && rest.first() == Some(&b'=')
        && let Some(value) = bytes.get_mut(name.len() + 1..)
    {
        value.fill(b'.');
    }
}
