//! What a command reaches through its proxy: lists decide, a person where they say so, and all of it is recorded.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use runward_approval::AboutHosts;
use runward_process::is_of_this_machine;
use runward_proxy::{Decided, Gate, Hosts, Later, System, Target};
use tokio::sync::Mutex as Turn;

use crate::Engine;
use crate::call_record::CallRecorder;

/// More hosts that a command was kept from are not named.
const NAMED: usize = 3;

/// What a command was kept from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unreached {
    hosts: Arc<Mutex<Vec<(Target, String)>>>,
    /// How many connections it had when it could have no more.
    crowded: Arc<AtomicUsize>,
}

impl Unreached {
    fn add(&self, target: &Target, why: &str) {
        let mut all = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < NAMED && all.iter().all(|(known, _)| known != target) {
            all.push((target.clone(), why.to_owned()));
        }
    }

    /// Each host and why, in words.
    pub(crate) fn named(&self) -> Vec<String> {
        let all = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let words = |(target, why): &(Target, String)| format!("{target} may not be reached: {why}");
        let crowded = Some(self.crowded.load(Ordering::Relaxed)).filter(|open| *open > 0);
        let crowded = crowded.map(|open| {
            format!("a connection was closed since {open} were open, which is the command's share just now: open fewer at once")
        });
        all.iter().map(words).chain(crowded).collect()
    }
}

/// What a command may reach, and who is asked about the rest.
#[derive(Clone, Debug)]
pub(crate) struct Reaching {
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) about: Option<AboutHosts>,
}

/// Serves a command's proxy for as long as the command runs.
pub(crate) fn serve(
    engine: &Engine,
    listener: TcpListener,
    reaching: Reaching,
    recorder: CallRecorder,
) -> Unreached {
    let unreached = Unreached::default();
    let Reaching { hosts, about } = reaching;
    let guard = Guard {
        engine: engine.clone(),
        recorder,
        unreached: unreached.clone(),
        about,
        asked: Arc::default(),
        recorded: Recorded::default(),
    };
    let stopping = engine.0.stopping.clone();
    engine.0.sessions.spawn(async move {
        match tokio::net::TcpListener::from_std(listener) {
            Ok(listener) => tokio::select! {
                () = runward_proxy::serve(listener, hosts, Arc::new(guard), Arc::new(System)) => {}
                () = stopping.cancelled() => {}
            },
            Err(error) => tracing::error!(%error, "a command has no proxy"),
        }
    });
    unreached
}

/// Stands between one command and the hosts that it wants to reach.
#[derive(Clone, Debug)]
struct Guard {
    engine: Engine,
    recorder: CallRecorder,
    unreached: Unreached,
    about: Option<AboutHosts>,
    /// What people have said. They are asked one question at a time, and none twice.
    asked: Arc<Turn<HashMap<Target, Result<String, String>>>>,
    recorded: Recorded,
}

/// What has been recorded of one command. A command that asks for the same again and again fills no disk.
#[derive(Clone, Debug, Default)]
struct Recorded(Arc<Mutex<(usize, HashSet<Decided>)>>);

/// So many decisions are recorded whatever they are; then only such as were not recorded yet.
const EACH: usize = 500;

/// A command that wants to know of more hosts than this is not told any more.
const DIFFERENT: usize = 5000;

impl Recorded {
    /// Whether this need not be recorded; an error where there is too much to record.
    fn has(&self, decided: &Decided) -> Result<bool, String> {
        let mut recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, known) = &mut *recorded;
        *count += 1;
        if known.len() >= DIFFERENT && !known.contains(decided) {
            return Err(format!("the command has asked for more than {DIFFERENT} hosts"));
        }
        Ok(!known.insert(decided.clone()) && *count > EACH)
    }
}

impl Engine {
    /// A command must not call this server by way of its proxy, which nobody could tell from another caller.
    fn unless_itself(&self, decided: &Decided) -> Result<(), String> {
        let Some(listener) = self.0.listener.get() else { return Ok(()) };
        let is_listener = |address: &IpAddr| {
            let there = SocketAddr::new(*address, decided.target.port());
            there.port() == listener.port() && (listener.ip() == *address || is_of_this_machine(there))
        };
        if decided.addresses.iter().any(is_listener) {
            return Err("commands do not reach Runward itself".to_owned());
        }
        Ok(())
    }
}

impl Gate for Guard {
    fn decided(&self, decided: Decided) -> Later<Result<(), String>> {
        let Guard { engine, recorder, unreached, recorded, .. } = self.clone();
        Box::pin(async move {
            let itself = engine.unless_itself(&decided);
            if let Some(why) = decided.ruling.as_ref().err().or(itself.as_ref().err()) {
                unreached.add(&decided.target, why);
            }
            itself?;
            if recorded.has(&decided)? {
                return Ok(());
            }
            recorder.reached(&decided).await.map_err(|refusal| refusal.to_string())
        })
    }

    fn crowded(&self, open: usize) {
        self.unreached.crowded.fetch_max(open, Ordering::Relaxed);
    }

    fn ask(&self, target: &Target) -> Later<Result<String, String>> {
        let (guard, target) = (self.clone(), target.clone());
        Box::pin(async move {
            let Some(about) = &guard.about else { return Err("nobody can be asked about it".to_owned()) };
            let mut asked = guard.asked.lock().await;
            if let Some(said) = asked.get(&target) {
                return said.clone();
            }
            let said =
                guard.engine.0.approvals.may_reach(&target, about, &guard.recorder.about(&target)).await;
            asked.insert(target, said.clone());
            said
        })
    }
}
