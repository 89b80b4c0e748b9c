//! The one path: resolve, judge, plan, spawn, supervise, watch, record.
//!
//! # Theory of operation
//!
//! A door hands over a [`Request`]. [`Engine::start`] resolves it (which program, which open directory, which
//! environment), has the policy judge exactly that, makes a plan of it, and spawns the plan. From then on one
//! task supervises the session: a short loop that feeds a pure state machine (`lifecycle`) and performs its
//! effects, while everything that the command prints goes into one [`EventLog`]. The door watches through
//! a [`Session`]; letting go of that stops the command.

mod approve;
mod bounds;
mod call_record;
mod confine;
mod cwd;
mod denied;
mod diagnose;
mod exhausted;
mod host;
mod inspect;
mod kept;
mod keys;
mod leaving;
mod lifecycle;
mod log;
mod login;
mod long_text;
mod names;
mod network;
mod output;
mod outputs;
mod patching;
mod plan;
mod publish;
mod record;
mod redact;
mod resolve;
mod room;
mod running;
mod session;
mod settings;
mod shell;
mod streams;
mod supervise;
mod terminal;
mod typing;
mod watch;
mod without_terminal;
mod workflow;
mod workspaces;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use runward_approval::Approvals;
use runward_audit::redact::{Secrets, redact_command};
use runward_login::Logins;
use runward_model::{OutputId, Principal, Refusal, Request, SessionId};
use runward_process::{RunnerProgram, Spawner};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use confine::{AtDoor, Sandboxing};
pub use host::{Executor, Host, Pending, Start};
pub use inspect::Inspected;
pub use kept::{Chunk, Kept, Met, NoSession, Pattern, Ready, Run, Summary, Wait};
pub use lifecycle::Background;
pub use log::{Event, EventLog, Keeping, Piece, Reader as EventReader, Shape, Tap};
pub use output::{Gone, Output};
pub use runward_approval::{ApprovalSettings, Approver, Asking, Conversation, Said};
pub use runward_login::{LoginSettings, Withheld};
pub use runward_process::{Peer, Peers};
pub use runward_spool::{Line, Page, Selection};
pub use session::Session;
pub use settings::{OutputSettings, Settings};
pub use typing::NotTaken;
pub use watch::{OnDisconnect, Watch};
pub use workspaces::{NamedWorkspace, NamedWorkspaces};

use keys::Keys;
use outputs::Outputs;
use plan::Plan;
use record::Recorder;
use room::{Place, Room};
use runward_spool::Store;
use workspaces::{Ends, Workspaces};

/// The one path that every door shares. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Engine(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    settings: Settings,
    host: Arc<dyn Host>,
    room: Room,
    /// Room for sessions that are kept; their table bounds those that do not end just now.
    kept_room: Room,
    kept: kept::Table,
    approvals: Approvals,
    stopping: CancellationToken,
    sessions: TaskTracker,
    store: Store,
    outputs: Arc<Outputs>,
    keys: Keys,
    logins: Logins,
    recorder: Recorder,
    workspaces: Workspaces,
    /// Where this server itself is reached, if it is.
    listener: OnceLock<SocketAddr>,
    /// The operator's secrets, ready to be looked for.
    secrets: Secrets,
}

impl Shared {
    /// The operator's secrets, and those among the variables that a caller gave.
    fn secrets(&self, given: &[(String, String)]) -> Secrets {
        let given: Vec<&[u8]> = given
            .iter()
            .filter(|(name, _)| runward_audit::redact::looks_secret(name))
            .map(|(_, value)| value.as_bytes())
            .collect();
        if given.is_empty() || !self.settings.redact {
            return self.secrets.clone();
        }
        let all = self.settings.secrets.iter().map(Vec::as_slice).chain(given);
        Secrets::new(all).unwrap_or_else(|_| self.secrets.clone())
    }
}

impl Engine {
    /// Has no side effects: the runner starts with the first command.
    pub fn new(settings: Settings) -> Self {
        Engine::with_runner(settings, RunnerProgram::default())
    }

    /// The same with another executable as the runner.
    pub fn with_runner(settings: Settings, runner: RunnerProgram) -> Self {
        Engine::with_host(settings, Arc::new(Spawner::new(runner)))
    }

    /// The same on another machine.
    pub fn with_host(settings: Settings, host: Arc<dyn Host>) -> Self {
        let room = Room::of(settings.max_sessions);
        let kept_room = Room::of(2 * settings.max_kept + settings.max_sessions);
        let kept = kept::Table::new(settings.max_kept);
        let (stopping, sessions) = (CancellationToken::new(), TaskTracker::new());
        let ends = Ends { host: host.clone(), tasks: sessions.clone(), stopping: stopping.clone() };
        let workspaces = Workspaces::new(settings.workspaces, ends);
        let (store, outputs) = (Store::new(settings.output.clone()), Outputs::new(settings.output.keep));
        let outputs = Arc::new(outputs);
        let secrets = Secrets::new(&settings.secrets).unwrap_or_default();
        let approvals = Approvals::new(settings.approvals.clone(), settings.policy.clone(), stopping.clone());
        let recorder = Recorder::new(settings.trail.clone(), sessions.clone());
        Engine(Arc::new(Shared {
            settings,
            host,
            room,
            kept_room,
            kept,
            approvals,
            stopping,
            sessions,
            store,
            outputs,
            keys: Keys::default(),
            logins: Logins::default(),
            recorder,
            workspaces,
            listener: OnceLock::new(),
            secrets,
        }))
    }

    /// Programs on the search path whose names are like this one.
    pub fn near(&self, name: &str) -> Vec<String> {
        self.0.settings.policy.current().path().near(name)
    }

    /// Takes a request down the whole path; once it returns, the command runs, and whoever has the session holds it. A
    /// request whose key stands for a run already is attached to that run. A session that is kept is in the table
    /// before this returns, so that a caller that goes away finds it again.
    pub async fn start(
        &self,
        request: Request,
        conversation: &Conversation,
        watch: Watch,
    ) -> Result<Session, Refusal> {
        let principal = request.caller.principal.clone();
        let session = self.begin(request, conversation, watch).await?;
        if let Watch::Kept = watch {
            self.adopt(&principal, &session);
        }
        Ok(session)
    }

    async fn begin(
        &self,
        request: Request,
        conversation: &Conversation,
        watch: Watch,
    ) -> Result<Session, Refusal> {
        if self.0.stopping.is_cancelled() {
            return Err(Refusal::ShuttingDown);
        }
        let Some(slot) = self.0.keys.slot(&request).map_err(|refusal| self.refuse(&request, refusal))? else {
            return Box::pin(self.launch(request, conversation, watch)).await;
        };
        let mut named = slot.lock().await;
        if let Some(output) = &*named {
            let found = self.0.outputs.find(&request.caller.principal, output);
            let gone = |gone: Gone| {
                let reason = format!("that run is over, and {gone}");
                Refusal::Earlier { argument: "request_key", output: output.clone(), reason }
            };
            return found.map(Output::attach).map_err(gone);
        }
        let mut session = Box::pin(self.launch(request, conversation, watch)).await?;
        session.detach();
        named.clone_from(&session.receipt().output);
        Ok(session)
    }

    async fn launch(
        &self,
        request: Request,
        conversation: &Conversation,
        watch: Watch,
    ) -> Result<Session, Refusal> {
        let shared = &self.0;
        let input = workflow::unless_aborted(&shared.settings.abort_file)
            .and_then(|()| shared.approvals.unless_beyond(&request))
            .and_then(|()| workflow::input(&request, &shared.outputs))
            .map_err(|refusal| self.refuse(&request, refusal))?;
        let login = self.login(&request).await;
        let (plan, open) = match Plan::make_for(self, request, login).await {
            Ok((plan, None)) => (plan, None),
            Ok((plan, Some(reason))) => Box::pin(self.approve(plan, reason, conversation)).await?,
            Err(refused) => return Err(self.refuse(&refused.request, refused.refusal)),
        };
        let plan = plan.reading(input);
        let room = if let Watch::Kept = watch { &shared.kept_room } else { &shared.room };
        let place = match self.place(room, plan.request(), conversation).await {
            Ok(place) => place,
            Err(refusal) => return Err(self.refuse_in(open, plan.request(), refusal).await),
        };
        let plan = match plan.confine(self).await {
            Ok(plan) => plan,
            Err(refused) => return Err(self.refuse_in(open, &refused.request, refused.refusal).await),
        };
        let open = match open {
            Some(open) => open,
            None => shared.recorder.open(&plan, &shared.secrets(&plan.request().env)).await?,
        };
        open.given(&plan).await?;
        Box::pin(plan.spawn(self, open, place, conversation, watch)).await
    }

    /// A place for a command, at once or when its client's turn has come.
    async fn place(
        &self,
        room: &Room,
        request: &Request,
        conversation: &Conversation,
    ) -> Result<Place, Refusal> {
        let (shared, principal) = (&self.0, &request.caller.principal);
        if let Some(place) = room.place(principal, Duration::ZERO).await {
            return Ok(place);
        }
        let patience = shared.settings.queue_wait;
        let crowded = |why: &str| {
            let reason = format!("{} commands are running already{why}", room.size());
            Refusal::Exhausted { what: "no room for another command", reason }
        };
        let place = tokio::select! {
            biased;
            () = shared.stopping.cancelled() => return Err(Refusal::ShuttingDown),
            () = conversation.given_up() => return Err(crowded(", and whoever called no longer waits")),
            place = room.place(principal, patience) => place,
        };
        let waited = format!(", and the turn of this one did not come within {} ms", patience.as_millis());
        let place = place.ok_or_else(|| crowded(if patience.is_zero() { "" } else { &waited }))?;
        // Meanwhile another run may have stopped everything.
        workflow::unless_aborted(&shared.settings.abort_file)?;
        Ok(place)
    }

    fn refuse(&self, request: &Request, refusal: Refusal) -> Refusal {
        self.log_refusal(request, &refusal);
        self.0.recorder.refuse(request, &refusal, &self.0.secrets(&request.env));
        let (on_failure, file) = (request.workflow.on_failure, &self.0.settings.abort_file);
        workflow::after_refusal(on_failure, file, &request.work, &refusal);
        refusal
    }

    fn log_refusal(&self, request: &Request, refusal: &Refusal) {
        if self.0.settings.log_commands {
            let told = redact_command(&refusal.to_string()).into_owned();
            let refusal = self.0.secrets(&request.env).redact_text(&told);
            let caller = &request.caller;
            tracing::info!(door = %caller.door.0, principal = caller.principal.name(), %refusal, "refused");
        }
    }

    /// Marks as lost what servers that were killed have left open in the audit trail.
    pub fn close_lost_calls(&self) {
        self.0.recorder.close_lost();
    }

    /// What a session of this principal printed, or why there is no such output.
    pub fn output(&self, principal: &Principal, id: &OutputId) -> Result<Output, Gone> {
        self.0.outputs.find(principal, id)
    }

    /// A session of this principal, for somebody who only looks.
    pub fn session(&self, principal: &Principal, id: SessionId) -> Option<Session> {
        self.0.outputs.session(principal, id)
    }

    /// The named workspaces of this principal, by their names. Those of callers who show nothing are not listed: to know
    /// a name is to be let in.
    pub fn workspaces(&self, principal: &Principal) -> Vec<NamedWorkspace> {
        if principal.shows_nothing() { Vec::new() } else { self.0.workspaces.named(principal) }
    }

    /// Who tells commands from everybody else.
    pub fn peers(&self) -> &Peers {
        self.0.host.peers()
    }

    /// From now on this server is reached at this address: no command is, by way of it.
    pub fn listens_at(&self, address: SocketAddr) {
        let _ = self.0.listener.set(address);
    }

    /// Refuses new work, stops everything, and returns when all of it is reaped and recorded.
    pub async fn shutdown(&self) {
        self.0.stopping.cancel();
        self.0.sessions.close();
        self.0.sessions.wait().await;
        self.0.host.shutdown().await;
    }
}

impl Executor for Engine {
    fn start<'a>(
        &'a self,
        request: Request,
        conversation: &'a Conversation,
        watch: Watch,
    ) -> Pending<'a, Result<Session, Refusal>> {
        Box::pin(self.start(request, conversation, watch))
    }
}
