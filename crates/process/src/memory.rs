//! How this process uses memory.

/// One heap for all threads. The few that write files beside the runtime would each keep megabytes of their own.
pub fn share_one_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: sets a number that the allocator looks at when a thread first allocates; no memory is touched.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
