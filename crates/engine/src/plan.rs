//! Plan and spawn: no plan, no process.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runward_approval::{AboutHosts, Approvals, Approved, Case, Conversation, Judge};
use runward_audit::redact::{Secrets, redact_argv};
use runward_login::Snapshot;
use runward_model::wire::{Launch, Opened, Planned, Step};
use runward_model::{
    Caller, Confinement, Decision, Fence, Limits, Receipt, Refusal, Request, Stdio, Verdict,
};
use runward_policy::{Execute, Held, NamedFiles, Policy};
use runward_process::{Child, Error as SpawnError, Stdio as Descriptors};
use runward_sandbox::Scene;
use runward_spool::Record;

use crate::room::Place;

use crate::bounds;
use crate::confine::{self, ConfineAsk, Confined};
use crate::host::Start;
use crate::long_text;
use crate::network::{self, Reaching};
use crate::record::OpenCall;
use crate::resolve::{self, Resolved, Variables};
use crate::session::Session;
use crate::streams::input_ends;
use crate::supervise::{self, Started};
use crate::watch::Watch;
use crate::{Engine, Settings, Shared, patching, publish};

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

    /// The same, aside where it may take its time: nobody else waits for rules in Rego, for the hash of a large
    /// file, or for what is long to read.
    pub(crate) async fn make_for(
        engine: &Engine,
        request: Request,
        login: Option<Arc<Snapshot>>,
    ) -> Result<(Self, Option<String>), Box<Refused>> {
        let Shared { settings, approvals, .. } = &*engine.0;
        let policy = settings.policy.current();
        if policy.rego().is_none() && !policy.ties() && !bounds::is_large(&request) {
            return Plan::make(request, settings, login.as_deref(), approvals);
        }
        let (shared, asked) = (engine.0.clone(), request.clone());
        let make = move || Plan::make(request, &shared.settings, login.as_deref(), &shared.approvals);
        let refused = |refusal| Err(Box::new(Refused { request: asked, refusal }));
        aside(make).await.unwrap_or_else(refused)
    }

    /// The same with the files that it names as they are now: what a person is asked about. Where they cannot be told, nobody
    /// is asked.
    pub(crate) async fn with_files(self, engine: &Engine, reason: &str) -> Result<Self, Box<Refused>> {
        let (shared, reason) = (engine.0.clone(), reason.to_owned());
        let asked = self.request.clone();
        let look = move || match self.resolved.look_at_files(&shared.settings) {
            Ok(files) => {
                let resolved = Resolved { files: Some(files), ..self.resolved };
                Ok(Plan { resolved, ..self })
            }
            Err(why) => {
                let verdict = Verdict { decision: Decision::Ask, reason, ..self.verdict };
                let why = format!("{why}, so it was not run");
                let refusal = Refusal::NotApproved { verdict: Box::new(verdict), why };
                Err(Box::new(Refused { request: self.request, refusal }))
            }
        };
        let refused = |refusal| Err(Box::new(Refused { request: asked, refusal }));
        aside(look).await.unwrap_or_else(refused)
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
    pub(crate) async fn confine(mut self, engine: &Engine) -> Result<Self, Box<Refused>> {
        let Shared { settings: Settings { sandboxing, .. }, host, workspaces, .. } = &*engine.0;
        let Resolved { cwd, .. } = &self.resolved;
        let scene = Scene { cwd: &cwd.path, program: &self.program, projects: &self.request.caller.projects };
        let (caller, profile) = (&self.request.caller, self.verdict.profile());
        let workspace = self.request.workspace.as_deref();
        let ask = ConfineAsk { caller, confinement: self.confinement, workspace, profile };
        let confined = match &self.resolved.patch {
            Some(_) => confine::confine_own(sandboxing, ask, scene),
            None => confine::confine(sandboxing, (&**host, workspaces), ask, scene).await,
        };
        match confined {
            Ok(mut confined) => {
                let (allowed, ports) = (&engine.0.settings.publish, &self.request.service.publish);
                if let Err(refusal) = publish::open(allowed, ports, &mut confined) {
                    return Err(Box::new(Refused { request: self.request, refusal }));
                }
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

    /// The same, unless a file that a person was asked about, or that it was allowed for, is not as it was.
    async fn unless_changed(self, engine: &Engine) -> Result<Self, Box<Refused>> {
        if self.resolved.files.is_none() {
            return Ok(self);
        }
        let (shared, asked) = (engine.0.clone(), self.request.clone());
        let look = move || {
            let before = self.resolved.files.as_ref();
            let changed = match self.resolved.look_at_files(&shared.settings) {
                Ok(now) => {
                    before.and_then(|before| before.changed(&now)).map(|file| file.display().to_string())
                }
                Err(why) => Some(why),
            };
            let Some(file) = changed else { return Ok(self) };
            let verdict = Verdict { decision: Decision::Ask, ..self.verdict };
            let why = format!(
                "{file} has changed since it was judged and asked about, so it was not run; call again"
            );
            let refusal = Refusal::NotApproved { verdict: Box::new(verdict), why };
            Err(Box::new(Refused { request: self.request, refusal }))
        };
        let refused = |refusal| Err(Box::new(Refused { request: asked, refusal }));
        aside(look).await.unwrap_or_else(refused)
    }

    /// What it may reach, where there are lists of hosts, and whom to ask about others.
    fn reaching(&self, conversation: &Conversation) -> Option<Reaching> {
        let hosts = self.confined.hosts.clone()?;
        let judged = |policy: &Policy| self.judged_by(policy);
        let about = hosts.asks().then(|| AboutHosts::new(&self.case(&judged), conversation)).flatten();
        Some(Reaching { hosts, about })
    }

    /// What its caller is told of it.
    fn receipt(&self) -> Receipt {
        let Confined { fence, enforced, .. } = &self.confined;
        Receipt {
            command: self.request.work.to_string(),
            cwd: self.resolved.cwd.path.clone(),
            verdict: self.verdict.clone(),
            enforced: enforced.clone(),
            fence: fence.clone().map(Box::new),
            output: None,
        }
    }

    /// Exactly what is executed.
    fn launch(&self, settings: &Settings) -> Result<Launch, Refusal> {
        let launch = Launch::new(&Executed { plan: self, limits: settings.limits });
        let launch = launch.map_err(|_| Refusal::Nul { what: "the command" })?;
        Ok(if self.request.service.is_reached() { launch.reached() } else { launch })
    }

    /// Starts what was planned, and the task that supervises it.
    pub(crate) async fn spawn(
        self,
        engine: &Engine,
        mut open: OpenCall,
        place: Place,
        conversation: &Conversation,
        watch: Watch,
    ) -> Result<Session, Refusal> {
        // Last, so that as little as possible comes between.
        let mut plan = match Box::pin(self.unless_changed(engine)).await {
            Ok(plan) => plan,
            Err(refused) => {
                engine.log_refusal(&refused.request, &refused.refusal);
                open.refused(&refused.refusal).await;
                return Err(refused.refusal);
            }
        };
        let (shared, receipt) = (&engine.0, plan.receipt());
        if let Some(patch) = plan.resolved.patch.take() {
            let patch = patch.confined(plan.confined.fence.as_ref());
            return Ok(patching::begin(engine, patch, (&plan.request, receipt), watch, (open, place)));
        }
        let reaching = plan.reaching(conversation);
        plan.confined.networked = plan.confined.reaches_this_host().then(|| shared.approvals.networked());
        let launch = plan.launch(&shared.settings)?;
        let Plan { request, resolved, program, input, confinement, mut confined, .. } = plan;
        let Resolved { argv, text, cwd, held, .. } = resolved;
        let stdio = descriptors(&request.stdio, input.as_ref());
        let started = match opened(held, text.as_deref()) {
            Ok(program) => shared.host.spawn(Start { launch, program, cwd: cwd.handle, stdio }).await,
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
        if shared.settings.log_commands {
            record_start(&request.caller, &argv, &child, &shared.secrets(&request.env));
        }
        if let (Some(listener), Some(reaching)) = (child.proxy_listener.take(), reaching) {
            confined.unreached = network::serve(engine, listener, reaching, open.recorder());
        }
        let recorder = (confinement == Confinement::Escalated).then(|| open.recorder());
        let input = input_ends(input, &request.stdio, recorder);
        Ok(supervise::begin(
            engine,
            &request,
            receipt,
            watch,
            Started { child, open, place, input, confined },
        ))
    }
}

/// Does what may take its time where nobody else waits for it.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refusal> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Refusal::ShuttingDown),
        },
    }
}

/// A plan, as the machine is told of it.
struct Executed<'a> {
    plan: &'a Plan,
    limits: Limits,
}

impl Planned for Executed<'_> {
    fn program(&self) -> &Path {
        &self.plan.program
    }

    fn argv(&self) -> impl Iterator<Item = &[u8]> {
        // A shell is given the text that was written anew, in place of the caller's.
        let Resolved { argv, text, .. } = &self.plan.resolved;
        let known = argv.len() - usize::from(text.is_some());
        let name = argv.first().map(String::as_str).unwrap_or_default();
        let text = text.as_deref().map(|text| long_text::as_argument(name, text));
        argv.iter().take(known).map(String::as_str).chain(text).map(str::as_bytes)
    }

    fn env(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.plan.resolved.env.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn fence(&self) -> Option<&Fence> {
        self.plan.confined.fence.as_ref()
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
    let confinement = request.wish.confinement;
    let (given, door_env, stdio) = (&request.env, &request.door_env, Some(&request.stdio));
    let variables = Variables { given, door_env, login, confinement, stdio };
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
    let tied = resolved.files.as_ref().map(NamedFiles::tied).unwrap_or_default();
    Case { request, policy, judged, verdict, program, argv, directory, tied }
}

fn descriptors(stdio: &Stdio, input: Option<&Record>) -> Descriptors {
    match stdio {
        Stdio::Terminal(size) => Descriptors::Terminal(*size),
        Stdio::Pipes | Stdio::Given(_) if input.is_none() => Descriptors::Pipes,
        Stdio::Pipes | Stdio::Given(_) | Stdio::Open => Descriptors::Piped,
    }
}

/// The descriptor to be executed, if it is executed by one, or the text that a shell is to read.
fn opened(held: Option<Held>, text: Option<&str>) -> io::Result<Option<(OwnedFd, Opened)>> {
    match held.map(Held::into_program).transpose()? {
        Some(Execute::Opened(file, opened)) => Ok(Some((file, opened))),
        Some(Execute::ByPath) => Ok(None),
        None => Ok(text.map(long_text::sealed).transpose()?.flatten().map(|text| (text, Opened::Read))),
    }
}

fn record_start(caller: &Caller, argv: &[String], child: &Child, secrets: &Secrets) {
    let argv: Vec<_> = redact_argv(argv).iter().map(|word| secrets.redact_text(word).into_owned()).collect();
    let (session, pid) = (child.session, child.pid);
    tracing::info!(door = %caller.door.0, principal = caller.principal.name(), %session, pid, ?argv, "started");
}

/// Says what went wrong in the words of whoever asked.
fn refusal(error: SpawnError, program: PathBuf, cwd: PathBuf) -> Refusal {
    use rustix::io::Errno;
    let SpawnError::Step { step, source } = &error else {
        return match error {
            SpawnError::Pipes(reason) => {
                Refusal::Exhausted { what: "no pipes for another command", reason: reason.to_string() }
            }
            error @ SpawnError::Wire(_) => Refusal::TooLarge(error.to_string()),
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
