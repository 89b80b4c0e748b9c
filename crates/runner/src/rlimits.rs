//! Limits that each process carries.

use runward_model::{Ending, LimitHit, Limits, Signal};

/// What to set in a new process, as far as the caller's own hard limits allow.
pub(crate) fn of(limits: &Limits) -> Vec<(u32, libc::rlimit)> {
    let cpu = limits.cpu_time.map(|time| time.as_secs().max(1));
    let memory = limits.memory.filter(|_| !limits.elsewhere.spares_memory);
    let processes = limits.processes.map(|count| count.saturating_add(limits.elsewhere.others));
    let wanted = [
        (libc::RLIMIT_AS, memory),
        (libc::RLIMIT_NPROC, processes),
        (libc::RLIMIT_CPU, cpu),
        (libc::RLIMIT_FSIZE, limits.file_size),
        (libc::RLIMIT_NOFILE, limits.open_files),
    ];
    wanted.into_iter().filter_map(|(resource, limit)| Some((resource, bounded(resource, limit?)))).collect()
}

/// Lets this process, and so every command, have so many descriptors open, unless they take more for themselves.
pub(crate) fn allow_descriptors(most: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = Some(maximum.map_or(most, |maximum| maximum.min(most)));
    let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
}

/// A limit can be lowered by anybody, but raised by nobody here.
fn bounded(resource: u32, limit: u64) -> libc::rlimit {
    let mut own = libc::rlimit { rlim_cur: 0, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `own` is a live local that the kernel fills in.
    unsafe { libc::getrlimit(resource, &raw mut own) };
    let limit = limit.min(own.rlim_max);
    // One second between the polite signal and the hard end of a process that uses up its time.
    let hard = if resource == libc::RLIMIT_CPU { own.rlim_max.min(limit + 1) } else { limit };
    libc::rlimit { rlim_cur: limit, rlim_max: hard }
}

/// The limit that a process died of, where its signal tells.
pub(crate) fn hit(ending: Ending) -> Option<LimitHit> {
    match ending {
        Ending::Signaled(Signal(libc::SIGXCPU)) => Some(LimitHit::CpuTime),
        Ending::Signaled(Signal(libc::SIGXFSZ)) => Some(LimitHit::FileSize),
        _ => None,
    }
}
