//! Plan and spawn: no plan, no process.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runward_audit::redact::{Secrets, redact_argv};
use runward_model::wire::{Launch, Step};
use runward_model::{Caller, Confinement, Receipt, Refusal, Request, Stdio, Verdict};
use runward_policy::{Held, Policy};
use runward_process::{Child, Error as SpawnError, Spawner, Stdio as Descriptors};
use runward_sandbox::Scene;
use runward_spool::Record;

use tokio::sync::OwnedSemaphorePermit;

use crate::approval::{AboutHosts, Approvals, Approved, Case, Conversation, Judge};
use crate::confine::{self, Confined, Hold};
use crate::login::Snapshot;
use crate::network::{self, Reaching, Unreached};
use crate::record::OpenCall;
use crate::resolve::{self, Resolved, Variables};
use crate::session::Session;
use crate::supervise::{Holdings, Supervision};
use crate::{Engine, Sandboxing, Settings, Shared, patching};

/// What will run, judged and allowed. Only [`Plan::make`] makes one, and only a plan can be spawned.
#[derive(Debug)]
pub(crate) struct Plan {
    request: Request,
    resolved: Resolved,
    verdict: Verdict,
    program: PathBuf,
    input: Option<Record>,
    confinement: Confinement,
    confined: Confined,
}

impl Plan {
    /// Resolves and judges; a refusal says why there is no plan. Where a person has to approve it first, there is a
    /// reason with it, and it may run once [`Plan::approved`].
    pub(crate) fn make(
        request: Request,
        settings: &Settings,
        login: Option<&Snapshot>,
        approvals: &Approvals,
    ) -> Result<(Self, Option<String>), Box<Refused>> {
        match judged(&request, settings, login, approvals) {
            Ok((resolved, verdict, program, reason)) => {
                // Where nobody has to be asked, a person has said for good what the caller wishes.
                let confinement =
                    if reason.is_none() { request.wish.confinement } else { Confinement::Usual };
                let confined = Confined::default();
                let plan = Plan { request, resolved, verdict, program, input: None, confinement, confined };
                Ok((plan, reason))
            }
            Err(refusal) => Err(Box::new(Refused { request, refusal })),
        }
    }

    /// The same, aside where it may take its time: nobody else waits for rules in Rego or the hash of a large file.
    pub(crate) async fn make_for(
        engine: &Engine,
        request: Request,
        login: Option<Arc<Snapshot>>,
    ) -> Result<(Self, Option<String>), Box<Refused>> {
        let Shared { settings, approvals, .. } = &*engine.0;
        if settings.policy.current().rego().is_none() {
            return Plan::make(request, settings, login.as_deref(), approvals);
        }
        let (shared, asked) = (engine.0.clone(), request.clone());
        let make = move || Plan::make(request, &shared.settings, login.as_deref(), &shared.approvals);
        match tokio::task::spawn_blocking(make).await {
            Ok(planned) => planned,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(Box::new(Refused { request: asked, refusal: Refusal::ShuttingDown })),
            },
        }
    }

    /// The same with what a person has said.
    pub(crate) fn approved(self, approved: Approved) -> Self {
        let Approved { verdict, confinement } = approved;
        Plan { verdict, confinement, ..self }
    }

    /// What another policy would say of exactly this.
    pub(crate) fn judged_by(&self, policy: &Policy) -> Verdict {
        resolve::judge_by(policy, &self.resolved, &self.request)
    }

    /// What a person has to know of it.
    pub(crate) fn case<'a>(&'a self, judged: &'a Judge<'a>) -> Case<'a> {
        case(&self.request, &self.resolved, &self.verdict, &self.program, judged)
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
        let (door, profile) = (self.request.caller.door, self.verdict.profile());
        let hold = Hold { door, confinement: self.confinement, profile };
        let confined = match &self.resolved.patch {
            Some(_) => confine::confine_own(sandboxing, hold, scene),
            None => confine::confine(sandboxing, spawner, hold, scene).await,
        };
        match confined {
            Ok(confined) => {
                confined.adjust(&mut self.resolved.env);
                Ok(Plan { confined, ..self })
            }
            Err(refusal) => Err(Box::new(Refused { request: self.request, refusal })),
        }
    }

    /// What was asked.
    pub(crate) fn request(&self) -> &Request {
        &self.request
    }

    /// How tightly it is to be held.
    pub(crate) fn confinement(&self) -> Confinement {
        self.confinement
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

    /// What it may reach, where there are lists of hosts, and whom to ask about others.
    fn reaching(&self, conversation: &Conversation) -> Option<Reaching> {
        let hosts = self.confined.hosts.clone()?;
        let judged = |policy: &Policy| self.judged_by(policy);
        let about = hosts.asks().then(|| AboutHosts::new(&self.case(&judged), conversation)).flatten();
        Some(Reaching { hosts, about })
    }

    /// Starts what was planned, and the task that supervises it.
    pub(crate) async fn spawn(
        self,
        engine: &Engine,
        mut open: OpenCall,
        room: OwnedSemaphorePermit,
        conversation: &Conversation,
    ) -> Result<Session, Refusal> {
        let reaching = self.reaching(conversation);
        let Plan { request, resolved, verdict, program, input, confinement, confined } = self;
        let reaches_this_host = confined.reaches_this_host();
        let Confined { fence, enforced, temporary, .. } = confined;
        let Resolved { argv, cwd, env, patch, held, .. } = resolved;
        let (command, directory) = (request.work.to_string(), cwd.path.clone());
        let shown = fence.clone().map(Box::new);
        let receipt = Receipt { command, cwd: directory, verdict, enforced, fence: shown, output: None };
        if let Some(patch) = patch {
            let patch = patch.confined(fence.as_ref());
            return Ok(patching::begin(engine, patch, request, receipt, open, room));
        }
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
        let started = match held.map(Held::into_program).transpose() {
            Ok(opened) => engine.0.spawner.spawn_opened(launch, opened, cwd.handle, stdio).await,
            Err(source) => Err(SpawnError::Step { step: Step::Exec, source }),
        };
        let mut child = match started {
            Ok(child) => child,
            Err(error) => {
                let refusal = refusal(error, program, cwd.path);
                engine.log_refusal(&request, &refusal);
                open.refused(&refusal).await;
                return Err(refusal);
            }
        };
        open.started(&child, &receipt.enforced);
        if engine.0.settings.log_commands {
            record_start(&request.caller, &argv, &child, &engine.0.secrets(&request.env));
        }
        let typist = (confinement == Confinement::Escalated).then(|| open.scribe());
        let unreached = match (child.outlet.take(), reaching) {
            (Some(outlet), Some(reaching)) => network::serve(engine, outlet, reaching, open.scribe()),
            _ => Unreached::default(),
        };
        let networked = reaches_this_host.then(|| engine.0.approvals.networked());
        let holdings = Holdings { open, room, input, temporary, typist, unreached, networked };
        Ok(Supervision::begin(engine, child, request, receipt, holdings))
    }
}

/// What was asked, and why nothing of it runs.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) request: Request,
    pub(crate) refusal: Refusal,
}

type Judged = (Resolved, Verdict, PathBuf, Option<String>);

fn judged(
    request: &Request,
    settings: &Settings,
    login: Option<&Snapshot>,
    approvals: &Approvals,
) -> Result<Judged, Refusal> {
    let variables = Variables { given: &request.env, presets: request.presets, login };
    let resolved = resolve::resolve(&request.work, request.cwd.as_deref(), variables, settings)?;
    let judge = |policy: &Policy| resolve::judge_by(policy, &resolved, request);
    let verdict = judge(&resolved.policy);
    // Whether it may run is said before it is looked for.
    let reason = approvals.need(&case(request, &resolved, &verdict, Path::new(""), &judge))?;
    let program = resolve::program_of(&resolved)?;
    Ok((resolved, verdict, program, reason))
}

fn case<'a>(
    request: &'a Request,
    resolved: &'a Resolved,
    verdict: &'a Verdict,
    program: &'a Path,
    judged: &'a Judge<'a>,
) -> Case<'a> {
    let (policy, argv, directory) = (&resolved.policy, &resolved.argv, &resolved.cwd.path);
    Case { request, policy, judged, verdict, program, argv, directory }
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

fn record_start(caller: &Caller, argv: &[String], child: &Child, secrets: &Secrets) {
    let argv: Vec<_> = redact_argv(argv).iter().map(|word| secrets.redact_text(word).into_owned()).collect();
    let (session, pid) = (child.session, child.pid);
    tracing::info!(door = caller.door.0, principal = %caller.principal.0, %session, pid, ?argv, "started");
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
        (Step::Cwd, Some(Errno::STALE)) => {
            let reason = "inside the sandbox another directory stands in its place".to_owned();
            Refusal::CwdUnusable { path: cwd, reason }
        }
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
