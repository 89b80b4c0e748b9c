//! The one path: resolve, judge, plan, spawn, supervise, watch, record.
//!
//! # Theory of operation
//!
//! A door hands over a [`Request`]. [`Engine::start`] resolves it (which program, which open directory, which
//! environment), has the policy judge exactly that, makes a plan of it, and spawns the plan. From then on one
//! task supervises the session: a short loop that feeds a pure state machine (`lifecycle`) and performs its
//! effects, while everything that the command prints goes into one [`EventLog`]. The door watches through
//! a [`Session`]; letting go of that stops the command.

mod cwd;
mod lifecycle;
mod log;
mod plan;
mod resolve;
mod session;
mod settings;
mod streams;
mod supervise;

use std::path::Path;
use std::sync::Arc;

use runward_model::{Decision, Refusal, Request, Verdict, Work};
use runward_process::{RunnerProgram, Spawner};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use log::{EventLog, Piece};
pub use session::Session;
pub use settings::Settings;

use plan::Plan;

/// The one path that every door shares. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Engine(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    settings: Settings,
    spawner: Spawner,
    room: Arc<Semaphore>,
    stopping: CancellationToken,
    sessions: TaskTracker,
}

impl Engine {
    /// Has no side effects: the runner starts with the first command.
    pub fn new(settings: Settings) -> Self {
        Engine::with_runner(settings, RunnerProgram::default())
    }

    /// The same with another executable as the runner.
    pub fn with_runner(settings: Settings, runner: RunnerProgram) -> Self {
        let room = Arc::new(Semaphore::new(settings.max_sessions));
        let (stopping, sessions) = (CancellationToken::new(), TaskTracker::new());
        Engine(Arc::new(Shared { settings, spawner: Spawner::new(runner), room, stopping, sessions }))
    }

    /// Judges and runs nothing.
    pub fn check(&self, work: &Work, cwd: Option<&Path>) -> Result<Verdict, Refusal> {
        let resolved = resolve::resolve(work, cwd, &[], &self.0.settings)?;
        let verdict = resolve::judge(&resolved, &self.0.settings);
        if verdict.decision == Decision::Allow {
            resolved.program?;
        }
        Ok(verdict)
    }

    /// Takes a request down the whole path; once it returns, the command runs and somebody holds its leash.
    pub async fn start(&self, request: Request) -> Result<Session, Refusal> {
        let shared = &self.0;
        if shared.stopping.is_cancelled() {
            return Err(Refusal::ShuttingDown);
        }
        let caller = request.caller.clone();
        let plan = Plan::make(request, &shared.settings).inspect_err(|refusal| {
            tracing::info!(door = caller.door.0, principal = %caller.principal.0, %refusal, "refused");
        })?;
        let Ok(room) = shared.room.clone().try_acquire_owned() else {
            let reason = format!("{} commands are running already", shared.settings.max_sessions);
            return Err(Refusal::Exhausted { what: "no room for another command", reason });
        };
        plan.spawn(self, room).await
    }

    /// Refuses new work, stops everything, and returns when all of it is reaped and recorded.
    pub async fn shutdown(&self) {
        self.0.stopping.cancel();
        self.0.sessions.close();
        self.0.sessions.wait().await;
        self.0.spawner.shutdown().await;
    }
}
