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
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use runward_policy::Glob;
use thiserror::Error;
use tokio::sync::Mutex as AsyncMutex;
use tokio_util::sync::CancellationToken;

pub use snapshot::Snapshot;

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
pub enum Problem {
    /// It could not be started.
    #[error("the shell could not be started: {0}")]
    NotStarted(String),
    /// It did not live to be asked.
    #[error(
        "the shell ended or hid its outputs before it could be asked; start-up files that call exit or exec do that"
    )]
    Silent,
    /// Its start-up files took too long.
    #[error("start-up files took longer than {0:?}")]
    Slow(Duration),
    /// They printed too much.
    #[error("start-up files printed more than {0} bytes")]
    TooMuch(usize),
    /// They left a process behind.
    #[error("start-up files left a process behind")]
    LeftBehind,
    /// They do what cannot be carried over.
    #[error("start-up files cannot be captured: {0}")]
    Obstacle(&'static str),
    /// What was carried over makes another shell.
    #[error("a shell that was given the capture differs in {0}")]
    Missed(String),
    /// The private file could not be written.
    #[error("the capture could not be kept: {0}")]
    NotKept(#[from] io::Error),
    /// The server ends.
    #[error("the server is shutting down")]
    Stopping,
}

/// A shell that can be started as often as it takes to know it.
pub trait Shell: Sync {
    /// Its file.
    fn program(&self) -> &Path;

    /// The variables that its door sets before it starts.
    fn door_env(&self) -> &[(String, String)];

    /// The variables that it starts with.
    fn environment(&self) -> Vec<(OsString, OsString)>;

    /// Starts it with these arguments, its name first, and these variables. Everything that it prints, once it and
    /// everything that it started are gone.
    fn run<'a>(&'a self, argv: &'a [&'a str], environment: &'a [(OsString, OsString)]) -> Running<'a>;
}

/// A shell that runs.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Printed, Problem>> + Send + 'a>>;

/// What a shell printed.
#[derive(Clone, Debug, Default)]
pub struct Printed {
    /// On its standard output.
    pub stdout: Vec<u8>,
    /// On its standard error.
    pub stderr: Vec<u8>,
}

/// A shell's file, and the variables that the door sets before it starts.
type Key = (PathBuf, Vec<(String, String)>);

/// Whoever captures holds the lock meanwhile, so that everybody else waits for the same capture.
type Slot = Arc<AsyncMutex<Option<Capture>>>;

/// Every capture, by the shell that it is of.
#[derive(Debug, Default)]
pub struct Logins(Mutex<HashMap<Key, Slot>>);

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
    /// What this shell finds when it logs in; `None` when it has to find that by itself.
    pub async fn of(
        &self,
        shell: &dyn Shell,
        settings: &LoginSettings,
        stopping: &CancellationToken,
    ) -> Option<Arc<Snapshot>> {
        let slot = self.slot((shell.program().to_owned(), shell.door_env().to_owned()));
        let mut slot = slot.lock().await;
        if let Some(capture) = slot.as_ref().filter(|capture| capture.is_fresh()) {
            return capture.snapshot();
        }
        let taken = Instant::now();
        let result = capture(shell, settings, stopping).await;
        record(shell.program(), taken.elapsed(), &result);
        let former = slot.take().and_then(|capture| capture.snapshot());
        let result = result.map(|(snapshot, watched)| (Arc::new(snapshot), watched));
        slot.insert(Capture { taken, result, _former: former }).snapshot()
    }

    /// What a shell of this file finds, as far as it is known already.
    pub fn known(&self, program: &Path) -> Option<Arc<Snapshot>> {
        let slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut same = slots.iter().filter(|((known, _), _)| *known == *program);
        same.find_map(|(_, slot)| {
            slot.try_lock().ok()?.as_ref().filter(|capture| capture.is_fresh())?.snapshot()
        })
    }

    fn slot(&self, key: Key) -> Slot {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone()
    }
}

async fn capture(
    shell: &dyn Shell,
    settings: &LoginSettings,
    stopping: &CancellationToken,
) -> Result<(Snapshot, Watched), Problem> {
    let start = Start { shell, settings, environment: shell.environment() };
    tokio::select! {
        result = start.capture() => result,
        () = tokio::time::sleep(settings.timeout) => Err(Problem::Slow(settings.timeout)),
        () = stopping.cancelled() => Err(Problem::Stopping),
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
