//! What this host can do, by trying it.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};

use runward_model::{Abilities, Fence, Network, Profile, Tier};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::enclosure::Enclosure;
use crate::fork;
use crate::landlock;
use crate::namespaces::Namespaces;
use crate::readable::Readable;
use crate::restrictions::Restrictions;
use crate::shared::{Entrance, Shared};

/// Without cutting files off, read-only is not read-only.
const LEAST_LANDLOCK: u32 = 3;

/// Tries what this host can do, from `strongest` on. Namespaces come with how they are made.
///
/// The caller has a single thread: this forks.
pub fn probe(strongest: Tier) -> (Abilities, Option<Namespaces>) {
    let landlock = landlock::version();
    let mut obstacle = String::new();
    for tier in [Tier::Full, Tier::SharedProc].into_iter().filter(|tier| *tier >= strongest) {
        for namespaces in [Namespaces::privileged(), Namespaces::unprivileged()] {
            match trial(tier, Some(&namespaces)) {
                Ok(()) => {
                    let obstacle = if tier == Tier::Full { String::new() } else { obstacle };
                    return (Abilities { tier, landlock, obstacle }, Some(namespaces));
                }
                // What an ordinary user is told counts; that privileges are missing is no news.
                Err(found) => obstacle = found,
            }
        }
    }
    if strongest == Tier::None {
        obstacle = "nothing was tried".into();
    } else if landlock >= LEAST_LANDLOCK {
        match trial(Tier::Landlock, None) {
            Ok(()) => return (Abilities { tier: Tier::Landlock, landlock, obstacle }, None),
            Err(found) => obstacle = format!("{obstacle}; {found}"),
        }
    } else {
        obstacle = format!("{obstacle}; Landlock is missing or too old (version {landlock})");
    }
    (Abilities { tier: Tier::None, landlock, obstacle }, None)
}

/// Confines a process of no consequence and has it try what it must not do.
fn trial(tier: Tier, namespaces: Option<&Namespaces>) -> Result<(), String> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| error.to_string())?;
    let refused = |error: io::Error| format!("namespaces cannot be made: {error}");
    let shared = namespaces.map(sample_shared).transpose().map_err(refused)?;
    let child = {
        let write = File::from(write);
        let entrance = shared.as_ref().map(|shared| shared.entrance(Some(0)));
        let first = || match confined(tier, entrance) {
            Ok(()) => 0,
            Err(reason) => i32::from((&write).write_all(reason.as_bytes()).is_ok()) + 1,
        };
        match &shared {
            Some(shared) => shared.begin(|| fork::fork(0), first).map_err(refused)?,
            None => alone(first).map_err(refused)?,
        }
    };
    let mut reason = String::new();
    let _ = File::from(read).read_to_string(&mut reason);
    match fork::wait(child) {
        Some(0) => Ok(()),
        _ if reason.is_empty() => Err("a confined process ended without a word".into()),
        _ => Err(reason),
    }
}

fn sample_shared(namespaces: &Namespaces) -> io::Result<Shared> {
    let shared = Shared::make(namespaces, 1 << 20, None)?;
    shared.make_loopback(0)?;
    Ok(shared)
}

fn alone(first: impl FnOnce() -> i32) -> io::Result<i32> {
    let child = fork::fork(0)?;
    if child == 0 { fork::exit(first()) } else { Ok(child) }
}

fn confined(tier: Tier, entrance: Option<Entrance>) -> Result<(), String> {
    let mut sample = Fence::new(Profile::ReadOnly, tier, Network::Off, CString::default());
    sample.hidden = vec![CString::from(c"/etc/hostname")];
    let told = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    let Some(entrance) = entrance else {
        let restrictions =
            Restrictions::alone(&sample, &mut Readable::default()).map_err(told("Landlock"))?;
        restrictions.apply().map_err(told("restrictions"))?;
        return forbidden_acts();
    };
    let (enclosure, _) = Enclosure::build(&sample, &entrance).map_err(told("namespaces and mounts"))?;
    enclosure.clean().map_err(told("cleaning up"))?;
    enclosure.restrictions().apply().map_err(told("restrictions"))?;
    forbidden_acts()
}

/// What gets through although it must not.
fn forbidden_acts() -> Result<(), String> {
    let writes = File::options().append(true).open("/etc/passwd").is_ok();
    let vsock = {
        // SAFETY: takes numbers only; this process ends before a descriptor could matter.
        let socket = unsafe { libc::socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0) };
        socket >= 0
    };
    match (writes, vsock) {
        (false, false) => Ok(()),
        (true, _) => Err("a confined process could write where it must not".into()),
        (_, true) => Err("a confined process could reach outside".into()),
    }
}
