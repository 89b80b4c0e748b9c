//! What a command reaches through its proxy: lists decide, a person where they say so, and all of it is recorded.

use std::collections::{HashMap, HashSet};
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

use runward_proxy::{Decided, Gate, Hosts, Later, System, Target};
use tokio::sync::Mutex as Turn;

use crate::Engine;
use crate::approval::AboutHosts;
use crate::scribe::Scribe;

/// More hosts that a command was kept from are not named.
const NAMED: usize = 3;

/// What a command was kept from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unreached(Arc<Mutex<Vec<(Target, String)>>>);

impl Unreached {
    fn add(&self, target: &Target, why: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < NAMED && all.iter().all(|(known, _)| known != target) {
            all.push((target.clone(), why.to_owned()));
        }
    }

    /// Each host and why, in words.
    pub(crate) fn named(&self) -> Vec<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let words = |(target, why): &(Target, String)| format!("{target} may not be reached: {why}");
        all.iter().map(words).collect()
    }
}

/// What a command may reach, and who is asked about the rest.
#[derive(Clone, Debug)]
pub(crate) struct Reaching {
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) about: Option<AboutHosts>,
}

/// Serves a command's proxy for as long as the command runs.
pub(crate) fn serve(engine: &Engine, listener: TcpListener, reaching: Reaching, scribe: Scribe) -> Unreached {
    let unreached = Unreached::default();
    let Reaching { hosts, about } = reaching;
    let guard = Guard {
        engine: engine.clone(),
        scribe,
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
    scribe: Scribe,
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

impl Gate for Guard {
    fn decided(&self, decided: Decided) -> Later<Result<(), String>> {
        let Guard { scribe, unreached, recorded, .. } = self.clone();
        Box::pin(async move {
            if let Err(why) = &decided.ruling {
                unreached.add(&decided.target, why);
            }
            if recorded.has(&decided)? {
                return Ok(());
            }
            scribe.reached(&decided).await.map_err(|refusal| refusal.to_string())
        })
    }

    fn ask(&self, target: &Target) -> Later<Result<String, String>> {
        let (guard, target) = (self.clone(), target.clone());
        Box::pin(async move {
            let Some(about) = &guard.about else { return Err("nobody can be asked about it".to_owned()) };
            let mut asked = guard.asked.lock().await;
            if let Some(said) = asked.get(&target) {
                return said.clone();
            }
            let said = guard.engine.0.approvals.may_reach(&target, about, &guard.scribe).await;
            asked.insert(target, said.clone());
            said
        })
    }
}
