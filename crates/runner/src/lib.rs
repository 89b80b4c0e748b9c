//! The runner: the small program under every server that makes processes, reaps them and ends them.
//!
//! # Theory of operation
//!
//! The server starts one runner by `posix_spawn`: the same executable under the name [`NAME`], with an empty
//! environment and one end of a socket pair as descriptor 0. From then on it obeys [`Order`](runward_model::wire::Order)s and sends
//! [`Report`](runward_model::wire::Report)s; descriptors for the children travel beside the orders.
//!
//! A child is made by a vfork-style clone (no page tables are copied, however large anything is), put into its
//! place between clone and exec, and executed. That gap is where confinement belongs. Whatever a session starts
//! is held together by the strongest of three means that works on this host (tried at start, not guessed):
//!
//! 1. a control group of its own (`cgroup`), ended by one write to `cgroup.kill`;
//! 2. a PID namespace of its own (`keeper` inside `namespace`), ended by the kernel with its first process;
//! 3. a keeper that adopts every orphan of the session and hunts all descendants: best effort.
//!
//! When descriptor 0 reaches its end, for whatever reason, every tree is killed and the runner ends. So a server
//! that is killed with -9 leaves nobody behind.
//!
//! A watchdog watches the runner, should a command stop it.
//!
//! The runner is single-threaded and has no async runtime: one `poll` loop over the socket, `SIGCHLD`, and what is
//! being closed.
#![expect(unsafe_code, reason = "clone, wait4, signals and namespaces have no safe interface")]

mod cgroup;
mod cgroup_sessions;
mod channel;
mod clone;
mod clone_vm;
mod confining;
mod keeper;
mod keeper_sessions;
mod meter;
mod mounted_layers;
mod namespace;
mod needs;
mod oom;
mod pool;
mod procfs;
mod proxy_listener;
mod reap;
mod rlimits;
mod room;
mod sandbox;
mod sandbox_init;
mod sandboxes;
mod seen;
mod serve;
mod signals;
mod sockets;
mod waiting;
mod watchdog;

pub use room::Room;

use std::process::ExitCode;

use runward_model::{Containment, Tier};

/// The name that makes this executable a runner. Its arguments are the containment, `auto` or the name of one, the
/// strongest tier of confinement to try, and, where it is not to be as it is, how many descriptors it and commands may have.
pub const NAME: &str = "runward-runner";

/// Runs as the runner, or as a trial of the sandbox, when this process was started as one, else returns `None`. Call it before anything else.
pub fn run_if_called() -> Option<ExitCode> {
    if let Some(code) = runward_sandbox::trial::run_if_called() {
        return Some(code.into());
    }
    let mut args = std::env::args_os();
    if args.next()? != NAME {
        return None;
    }
    let wanted = args.next().and_then(|name| Containment::ALL.into_iter().find(|known| name == known.name()));
    let strongest = args.next().and_then(|name| Tier::ALL.into_iter().find(|known| name == known.name()));
    let descriptors = args.next().and_then(|most| most.to_str()?.parse().ok());
    if let Some(most) = descriptors {
        rlimits::allow_descriptors(most);
    }
    Some(match serve::run(wanted, strongest.unwrap_or(Tier::Full)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{NAME}: {error}");
            ExitCode::FAILURE
        }
    })
}
