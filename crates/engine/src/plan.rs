//! Plan and spawn: no plan, no process.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use runward_model::wire::{Launch, Step};
use runward_model::{Caller, Confinement, Decision, Enforced, Receipt, Refusal, Request, Stdio, Verdict};
use runward_process::{Error as SpawnError, Spawner, Stdio as Descriptors};
use runward_sandbox::Scene;
use runward_spool::Record;

use tokio::sync::OwnedSemaphorePermit;

use crate::confine::{self, Confined};
use crate::record::OpenCall;
use crate::resolve::{self, Resolved, Variables};
use crate::session::Session;
use crate::supervise::{Holdings, Supervision};
use crate::{Engine, Sandboxing, Settings};

/// What will run, judged and allowed. Only [`Plan::make`] makes one, and only a plan can be spawned.
#[derive(Debug)]
pub(crate) struct Plan {
    request: Request,
    resolved: Resolved,
    verdict: Verdict,
    program: PathBuf,
    input: Option<Record>,
    confined: Confined,
}

impl Plan {
    /// Resolves and judges; a refusal says why there is no plan.
    pub(crate) fn make(request: Request, settings: &Settings) -> Result<Self, Box<Refused>> {
        match judged(&request, settings) {
            Ok((resolved, verdict, program)) => {
                let confined = Confined::default();
                Ok(Plan { request, resolved, verdict, program, input: None, confined })
            }
            Err(refusal) => Err(Box::new(Refused { request, refusal })),
        }
    }

    /// The same with something on its standard input.
    pub(crate) fn reading(self, input: Option<Record>) -> Self {
        Plan { input, ..self }
    }

    /// The same, confined as it should be.
    pub(crate) async fn confine(
        mut self,
        sandboxing: &Sandboxing,
        spawner: &Spawner,
    ) -> Result<Self, Box<Refused>> {
        let scene = Scene { cwd: &self.resolved.cwd.path, program: &self.program };
        let door = self.request.caller.door;
        match confine::confine(sandboxing, spawner, door, Confinement::Usual, scene).await {
            Ok(confined) => {
                confined.adjust(&mut self.resolved.env);
                Ok(Plan { confined, ..self })
            }
            Err(refusal) => Err(Box::new(Refused { request: self.request, refusal })),
        }
    }

    /// What it is confined to.
    pub(crate) fn enforced(&self) -> &Enforced {
        &self.confined.enforced
    }

    /// What was asked.
    pub(crate) fn request(&self) -> &Request {
        &self.request
    }

    /// Why it may run.
    pub(crate) fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The file that will be executed.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Where.
    pub(crate) fn directory(&self) -> &Path {
        &self.resolved.cwd.path
    }

    /// Starts what was planned, and the task that supervises it.
    pub(crate) async fn spawn(
        self,
        engine: &Engine,
        mut open: OpenCall,
        room: OwnedSemaphorePermit,
    ) -> Result<Session, Refusal> {
        let Plan { request, resolved, verdict, program, input, confined } = self;
        let Confined { fence, enforced, temporary } = confined;
        let Resolved { argv, cwd, env, .. } = resolved;
        let variables: Vec<Vec<u8>> = env.iter().map(|(name, value)| variable(name, value)).collect();
        let launch = Launch::new(
            program.as_os_str().as_bytes(),
            argv.iter().map(String::as_bytes),
            variables.iter().map(Vec::as_slice),
        )
        .map_err(|_| Refusal::Nul { what: "the command" })?
        .limited(engine.0.settings.limits)
        .fenced(fence);
        let stdio = descriptors(&request.stdio, input.as_ref());
        let (command, directory) = (request.work.to_string(), cwd.path.clone());
        let receipt = Receipt { command, cwd: directory, verdict, enforced, output: None };
        let child = match engine.0.spawner.spawn(launch, cwd.handle, stdio).await {
            Ok(child) => child,
            Err(error) => {
                let refusal = refusal(error, program, cwd.path);
                tracing::info!(door = request.caller.door.0, %refusal, "not started");
                open.refused(&refusal).await;
                return Err(refusal);
            }
        };
        open.started(&child);
        if engine.0.settings.log_commands {
            record_start(&request.caller, &argv, child.pid);
        }
        Ok(Supervision::begin(engine, child, request, receipt, Holdings { open, room, input, temporary }))
    }
}

/// What was asked, and why nothing of it runs.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) request: Request,
    pub(crate) refusal: Refusal,
}

fn judged(request: &Request, settings: &Settings) -> Result<(Resolved, Verdict, PathBuf), Refusal> {
    let variables = Variables { given: &request.env, presets: request.presets };
    let resolved = resolve::resolve(&request.work, request.cwd.as_deref(), variables, settings)?;
    let verdict = resolve::judge_for(&resolved, request);
    match verdict.decision {
        Decision::Allow => {}
        Decision::Ask => return Err(Refusal::Denied(unapproved(verdict))),
        Decision::Deny => return Err(Refusal::Denied(verdict)),
    }
    let program = resolve::program_of(&resolved)?;
    Ok((resolved, verdict, program))
}

/// Nobody can be asked, so what needs asking does not run.
fn unapproved(verdict: Verdict) -> Verdict {
    let reason = format!("{}; nobody is there to ask, so it was not run", verdict.reason);
    Verdict { reason, ..verdict }
}

fn descriptors(stdio: &Stdio, input: Option<&Record>) -> Descriptors {
    match stdio {
        Stdio::Terminal(size) => Descriptors::Terminal(*size),
        Stdio::Pipes | Stdio::Given(_) if input.is_none() => Descriptors::Pipes,
        Stdio::Pipes | Stdio::Given(_) | Stdio::Open => Descriptors::Piped,
    }
}

fn variable(name: &OsStr, value: &OsStr) -> Vec<u8> {
    [name.as_bytes(), b"=", value.as_bytes()].concat()
}

fn record_start(caller: &Caller, argv: &[String], pid: i32) {
    tracing::info!(door = caller.door.0, principal = %caller.principal.0, ?argv, pid, "started");
}

/// Says what went wrong in the words of whoever asked.
fn refusal(error: SpawnError, program: PathBuf, cwd: PathBuf) -> Refusal {
    use rustix::io::Errno;
    let SpawnError::Step { step, source } = &error else {
        return match error {
            SpawnError::Pipes(reason) => {
                Refusal::Exhausted { what: "no pipes for another command", reason: reason.to_string() }
            }
            error => Refusal::StartFailed { program, reason: error.to_string() },
        };
    };
    let reason = source.to_string();
    match (step, Errno::from_io_error(source)) {
        (Step::Cwd, _) => Refusal::CwdUnusable { path: cwd, reason },
        (_, Some(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE)) => {
            Refusal::Exhausted { what: "no room for another process", reason }
        }
        (Step::Exec, Some(Errno::ACCESS | Errno::PERM)) => Refusal::NotExecutable(program),
        (Step::Exec, Some(Errno::NOEXEC)) => {
            let reason =
                "it is neither a program for this machine nor a script with a #! line; name its interpreter";
            Refusal::StartFailed { program, reason: reason.into() }
        }
        (Step::Exec, Some(Errno::NOENT)) => {
            let reason = "its interpreter (the first line after #!, or its loader) does not exist";
            Refusal::StartFailed { program, reason: reason.into() }
        }
        (Step::Exec, Some(Errno::TOOBIG)) => {
            let reason =
                "its arguments and environment are too long for this system; pass long text as input";
            Refusal::StartFailed { program, reason: reason.into() }
        }
        _ => Refusal::StartFailed { program, reason: error.to_string() },
    }
}
