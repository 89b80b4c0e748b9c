//! Login shells cost one start: what their start-up files set up is captured once and given to every command that
//! wants it.
//!
//! # Theory of operation
//!
//! Three shells are asked what they are, by one script that prints everything that can be set in a shell (`dump`): one
//! that has read no start-up files, one that has, and one that was given the difference between the two (`restore`).
//! The last two have to be the same, otherwise nothing is captured and every command starts a login shell of its own.
//! So what cannot be carried over is never left out silently.
//!
//! The difference is mostly variables, which travel in the environment. Functions, options and the like travel in a
//! private file that bash reads first (`BASH_ENV`). What looks secret is left out as it is elsewhere, and what a door
//! or a caller sets stays as they set it. The files that were read are watched (`watched`).
//!
//! Not carried over, on purpose: what the files print, what they read, and the directory that they go to, which is the
//! caller's to choose; and completions, which nobody uses without a keyboard.
//!
//! Only bash can say everything that it is, so other shells read their files every time.

mod capture;
mod dump;
mod restore;
mod snapshot;
mod watched;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use runward_model::{Request, Script, Work};
use runward_policy::{Glob, SearchPath};
use thiserror::Error;
use tokio::sync::Mutex as AsyncMutex;

pub(crate) use snapshot::Snapshot;

use crate::resolve::{self, Variables};
use crate::{Engine, patching, shell};
use capture::Start;
use watched::Watched;

/// How long a capture is used, for what changes without a file that is watched.
const KEPT: Duration = Duration::from_hours(1);

/// How long a failure is remembered, so that not every call waits for the next one.
const FAILED: Duration = Duration::from_mins(5);

/// What is done about login shells.
#[derive(Clone, Debug, Default)]
pub struct LoginSettings {
    /// How long start-up files may take; zero captures nothing.
    pub timeout: Duration,
    /// A directory for private files, made when it is first needed.
    pub directory: PathBuf,
    /// Variables that commands do not get although start-up files set them.
    pub withheld: Withheld,
}

/// Variables that commands do not get although start-up files set them.
#[derive(Clone, Debug, Default)]
pub struct Withheld {
    /// Names that nothing brings back.
    pub always: Vec<Glob>,
    /// Names in capitals that look secret.
    pub secret: Vec<Glob>,
    /// Those of them that the operator wants all the same.
    pub except: Vec<Glob>,
}

impl Withheld {
    fn holds(&self, name: &str) -> bool {
        let any = |globs: &[Glob], name: &str| globs.iter().any(|glob| glob.matches(name));
        any(&self.always, name) || any(&self.secret, &name.to_uppercase()) && !any(&self.except, name)
    }
}

/// Why nothing was captured.
#[derive(Debug, Error)]
pub(crate) enum Problem {
    #[error("the shell could not be started: {0}")]
    NotStarted(String),
    #[error(
        "the shell ended or hid its outputs before it could be asked; start-up files that call exit or exec do that"
    )]
    Silent,
    #[error("start-up files took longer than {0:?}")]
    Slow(Duration),
    #[error("start-up files printed more than {0} bytes")]
    TooMuch(usize),
    #[error("start-up files left a process behind")]
    LeftBehind,
    #[error("start-up files cannot be captured: {0}")]
    Obstacle(&'static str),
    #[error("a shell that was given the capture differs in {0}")]
    Missed(String),
    #[error("the capture could not be kept: {0}")]
    NotKept(#[from] io::Error),
    #[error("the server is shutting down")]
    Stopping,
}

/// A shell's file, and the variables that the door sets before it starts.
type Key = (PathBuf, Vec<(String, String)>);

/// Whoever captures holds the lock meanwhile, so that everybody else waits for the same capture.
type Slot = Arc<AsyncMutex<Option<Capture>>>;

/// Every capture, by the shell that it is of.
#[derive(Debug, Default)]
pub(crate) struct Logins(Mutex<HashMap<Key, Slot>>);

#[derive(Debug)]
struct Capture {
    taken: Instant,
    result: Result<(Arc<Snapshot>, Watched), Problem>,
    /// The one before: a shell that has just started may still have to read its file.
    _former: Option<Arc<Snapshot>>,
}

impl Capture {
    fn is_fresh(&self) -> bool {
        match &self.result {
            Ok((_, watched)) => self.taken.elapsed() < KEPT && watched.are_unchanged(),
            Err(_) => self.taken.elapsed() < FAILED,
        }
    }

    fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.result.as_ref().ok().map(|(snapshot, _)| snapshot.clone())
    }
}

impl Logins {
    /// What a request's login shell would find; `None` when it has to find that by itself, or wants none.
    pub(crate) async fn of(&self, engine: &Engine, request: &Request) -> Option<Arc<Snapshot>> {
        let settings = &engine.0.settings;
        let steers = |(name, _): &(String, String)| name == "HOME" || resolve::steers_bash(name.as_ref());
        let is_off = settings.login.timeout.is_zero() || patching::needs_no_shell(&request.work);
        if is_off || request.env.iter().any(steers) {
            return None;
        }
        let program = shell_of(&request.work, settings.policy.current().path())?;
        let slot = self.slot((program.clone(), request.door_env.clone()));
        let mut slot = slot.lock().await;
        if let Some(capture) = slot.as_ref().filter(|capture| capture.is_fresh()) {
            return capture.snapshot();
        }
        let taken = Instant::now();
        let result = capture(engine, &program, &request.door_env).await;
        record(&program, taken.elapsed(), &result);
        let former = slot.take().and_then(|capture| capture.snapshot());
        let result = result.map(|(snapshot, watched)| (Arc::new(snapshot), watched));
        slot.insert(Capture { taken, result, _former: former }).snapshot()
    }

    /// The same as far as it is known already.
    pub(crate) fn known(&self, work: &Work, path: &SearchPath) -> Option<Arc<Snapshot>> {
        let program = shell_of(work, path)?;
        let slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut same = slots.iter().filter(|((known, _), _)| *known == program);
        same.find_map(|(_, slot)| {
            slot.try_lock().ok()?.as_ref().filter(|capture| capture.is_fresh())?.snapshot()
        })
    }

    fn slot(&self, key: Key) -> Slot {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone()
    }
}

/// The bash that some work wants to log in to.
fn shell_of(work: &Work, path: &SearchPath) -> Option<PathBuf> {
    let Work::Script(Script { shell, login: true, .. }) = work else { return None };
    let file = shell::login(shell.as_deref(), path)?;
    if file.contains('/') { Some(file.into()) } else { path.find(&file) }
}

async fn capture(
    engine: &Engine,
    program: &Path,
    door_env: &[(String, String)],
) -> Result<(Snapshot, Watched), Problem> {
    let settings = &engine.0.settings;
    let variables = Variables { door_env, ..Variables::default() };
    let environment = resolve::environment(settings, true, variables, Path::new("/"));
    let start = Start { engine, program, environment };
    tokio::select! {
        result = start.capture() => result,
        () = tokio::time::sleep(settings.login.timeout) => Err(Problem::Slow(settings.login.timeout)),
        () = engine.0.stopping.cancelled() => Err(Problem::Stopping),
    }
}

fn record(program: &Path, took: Duration, result: &Result<(Snapshot, Watched), Problem>) {
    let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    match result {
        Ok(_) => tracing::info!(shell = %program.display(), took_ms, "login shell captured"),
        Err(problem) => tracing::warn!(
            shell = %program.display(), took_ms, %problem,
            "login shell not captured; every command reads its start-up files"
        ),
    }
}
