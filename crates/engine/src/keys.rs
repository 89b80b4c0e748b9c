//! Requests by the names that their callers gave them: the same name within ten minutes is the same run.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use runward_model::{OutputId, Principal, Refusal, Request, Workflow};
use tokio::sync::Mutex as AsyncMutex;

/// How long a name stands for its run.
const REMEMBERED: Duration = Duration::from_mins(10);

/// Where nobody knows which client calls, whoever knows a name is attached to its run: so short a name could be guessed.
pub(crate) const UNGUESSABLE: usize = 22;

/// The run that a name stands for, once it has started. Whoever starts it holds the lock meanwhile.
pub(crate) type Slot = Arc<AsyncMutex<Option<OutputId>>>;

/// Requests by the names that their callers gave them.
#[derive(Debug, Default)]
pub(crate) struct Keys(Mutex<HashMap<(Principal, String), Named>>);

#[derive(Debug)]
struct Named {
    since: Instant,
    fingerprint: u64,
    slot: Slot,
}

impl Keys {
    /// The place of a request's name, if it has one.
    pub(crate) fn slot(&self, request: &Request) -> Result<Option<Slot>, Refusal> {
        let Some(key) = request.workflow.key.clone() else { return Ok(None) };
        if request.caller.principal.is_any_client() && key.chars().count() < UNGUESSABLE {
            return Err(Refusal::KeyGuessable { key, least: UNGUESSABLE });
        }
        let fingerprint = fingerprint(request);
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|_, named| named.since.elapsed() < REMEMBERED);
        let fresh = || Named { since: Instant::now(), fingerprint, slot: Slot::default() };
        let named = keys.entry((request.caller.principal.clone(), key.clone())).or_insert_with(fresh);
        if named.fingerprint != fingerprint {
            return Err(Refusal::KeyTaken(key));
        }
        Ok(Some(named.slot.clone()))
    }
}

/// Tells requests apart; who sent them and by which client program makes no difference.
fn fingerprint(request: &Request) -> u64 {
    let Request { caller, work, cwd, env, door_env, stdio, timeout, workflow, wish, workspace, service } =
        request;
    let Workflow { input_from, only_if, on_failure, key: _ } = workflow;
    let mut hasher = DefaultHasher::new();
    (&caller.door, door_env, stdio, timeout, wish, workspace, service).hash(&mut hasher);
    format!("{work:?} {cwd:?} {env:?} {input_from:?} {only_if:?} {on_failure:?}").hash(&mut hasher);
    hasher.finish()
}
