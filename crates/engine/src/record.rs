//! Record: one record opens a call, one closes it, whatever happens in between.
//!
//! Writing may wait for a disk or for another server: then it is done beside the runtime, never on it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use runward_audit::redact::Secrets;
use runward_audit::{CallId, Closed, Entry, Judged, Output, Ruling, Started, Trail};
use runward_model::{Confinement, Enforced, Outcome, Profile, Refusal, Request, Stdio, Stream, Verdict};
use runward_process::Child;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::bounds;
use crate::call_record::CallRecorder;
use crate::log::EventLog;
use crate::plan::Plan;

/// Where calls are recorded, if they are. Every write is one of the engine's tasks, so a shutdown waits for it.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    pub(crate) trail: Option<Arc<Trail>>,
    pub(crate) tasks: TaskTracker,
    /// How many times something was to be written.
    writes: Arc<AtomicU64>,
}

/// A call that was opened and has to be closed.
#[derive(Debug)]
pub(crate) struct OpenCall {
    recorder: Recorder,
    /// Gone once it is closed.
    call: Option<CallId>,
    started: Option<LateStart>,
    secrets: Secrets,
}

/// That a command started, told by itself only when it runs for a while: most end before anybody could look.
#[derive(Debug)]
struct LateStart {
    /// Taken by whoever writes it.
    untold: Arc<Mutex<Option<Started>>>,
    teller: JoinHandle<()>,
}

/// How long a command runs before its start is recorded by itself.
const A_WHILE: Duration = Duration::from_millis(250);

/// How many writes there are between two looks at what is too old or too much.
const DROP_EVERY: u64 = 256;

impl Recorder {
    pub(crate) fn new(trail: Option<Arc<Trail>>, tasks: TaskTracker) -> Self {
        Recorder { trail, tasks, writes: Arc::default() }
    }

    /// Opens the record of what is about to run. What cannot be recorded does not run.
    pub(crate) async fn open(&self, plan: &Plan, secrets: &Secrets) -> Result<OpenCall, Refusal> {
        let call = CallId::fresh();
        if let Some(trail) = self.trail.clone() {
            let judged = judged(call.clone(), plan.request(), Some(plan.verdict()), Some(plan));
            let written = if bounds::is_large(plan.request()) {
                let secrets = secrets.clone();
                self.write_aside(move || trail.append(judged.without(&secrets))).await
            } else {
                self.write(trail, vec![judged.without(secrets).into()]).await
            };
            written.map_err(Refusal::Unrecorded)?;
        }
        Ok(OpenCall { recorder: self.clone(), call: Some(call), started: None, secrets: secrets.clone() })
    }

    /// At once where that takes no time, else beside the runtime.
    pub(crate) async fn write(&self, trail: Arc<Trail>, entries: Vec<Entry>) -> Result<(), String> {
        self.drop_old(&trail);
        match trail.append_at_once(&entries) {
            Some(written) => written.map(|_| ()).map_err(|error| error.to_string()),
            None => self.write_aside(move || trail.append_all(entries)).await,
        }
    }

    async fn write_aside(
        &self,
        write: impl FnOnce() -> Result<u64, runward_audit::Error> + Send + 'static,
    ) -> Result<(), String> {
        match self.tasks.spawn_blocking(write).await {
            Ok(written) => written.map(|_| ()).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Every so often, has the trail drop what is not to be kept any more.
    fn drop_old(&self, trail: &Arc<Trail>) {
        if self.writes.fetch_add(1, Ordering::Relaxed).is_multiple_of(DROP_EVERY) {
            let trail = trail.clone();
            self.tasks.spawn_blocking(move || match trail.drop_old() {
                Ok(0) => {}
                Ok(records) => tracing::info!(records, "old records of the audit trail were dropped"),
                Err(error) => tracing::error!(%error, "old records of the audit trail could not be dropped"),
            });
        }
    }

    /// Records a call of which nothing ran, and why. Waits for nothing: there is nothing to keep from running.
    pub(crate) fn refuse(&self, request: &Request, refusal: &Refusal, secrets: &Secrets) {
        let Some(trail) = self.trail.clone() else { return };
        let verdict = match refusal {
            Refusal::Denied(verdict) => Some(verdict),
            _ => None,
        };
        self.drop_old(&trail);
        let call = CallId::fresh();
        let opening = judged(call.clone(), request, verdict, None);
        let (reason, secrets) = (refusal.to_string(), secrets.clone());
        self.tasks.spawn_blocking(move || {
            let closing = Closed::refused(call, secrets.redact_text(&reason));
            told(&trail, vec![opening.without(&secrets).into(), closing.into()]);
        });
    }

    /// Writes what only tells of something that has happened anyway: failing to is said aloud.
    async fn tell(&self, trail: Arc<Trail>, entries: Vec<Entry>) {
        if let Err(error) = self.write(trail, entries).await {
            tracing::error!(error, "a record could not be written");
        }
    }

    /// Closes, as lost, what servers that are gone have left open.
    pub(crate) fn close_lost(&self) {
        let Some(trail) = self.trail.clone().filter(|trail| trail.path().exists()) else { return };
        self.tasks.spawn_blocking(move || match trail.close_lost() {
            Ok(lost) if lost.is_empty() => {}
            Ok(lost) => {
                tracing::warn!(calls = lost.len(), "calls of a server that was killed are marked as lost");
            }
            Err(error) => tracing::error!(%error, "lost calls could not be closed"),
        });
    }
}

impl OpenCall {
    /// What an escalated command is given to read counts as typed.
    pub(crate) async fn given(&self, plan: &Plan) -> Result<(), Refusal> {
        match (plan.confinement(), &plan.request().stdio) {
            (Confinement::Escalated, Stdio::Given(input)) => self.recorder().typed(input).await,
            _ => Ok(()),
        }
    }

    /// Records what happens meanwhile.
    pub(crate) fn recorder(&self) -> CallRecorder {
        let (recorder, call, secrets) = (self.recorder.clone(), self.call.clone(), self.secrets.clone());
        CallRecorder { recorder, call, secrets, host: None }
    }

    /// Its first process runs.
    pub(crate) fn started(&mut self, child: &Child, enforced: &Enforced) {
        let (Some(trail), Some(call)) = (self.recorder.trail.clone(), self.call.clone()) else { return };
        let sandbox = (enforced.profile != Profile::FullAccess).then(|| enforced.clone());
        let started = Started { call, session: child.session, pid: child.pid, sandbox };
        let untold = Arc::new(Mutex::new(Some(started)));
        let (late, recorder) = (untold.clone(), self.recorder.clone());
        let teller = self.recorder.tasks.spawn(async move {
            tokio::time::sleep(A_WHILE).await;
            if let Some(started) = take(&late) {
                recorder.tell(trail, vec![started.into()]).await;
            }
        });
        self.started = Some(LateStart { untold, teller });
    }

    /// It ended.
    pub(crate) async fn ended(self, outcome: &Outcome, log: &EventLog) {
        let [stdout, stderr] = Stream::BOTH.map(|stream| {
            let (bytes, truncated) = log.size(stream);
            Output { bytes, truncated }
        });
        self.close(|call| Closed::ended(call, outcome, stdout, stderr)).await;
    }

    /// It did not start.
    pub(crate) async fn refused(self, refusal: &Refusal) {
        self.close(|call| Closed::refused(call, refusal.to_string())).await;
    }

    async fn close(mut self, closed: impl FnOnce(CallId) -> Closed) {
        let mut entries: Vec<Entry> = Vec::with_capacity(2);
        if let Some(LateStart { untold, teller }) = self.started.take() {
            match take(&untold) {
                Some(started) => {
                    teller.abort();
                    entries.push(started.into());
                }
                None => drop(teller.await),
            }
        }
        if let (Some(trail), Some(call)) = (self.recorder.trail.clone(), self.call.take()) {
            entries.push(closed(call).into());
            self.recorder.tell(trail, entries).await;
        }
    }
}

fn take(untold: &Mutex<Option<Started>>) -> Option<Started> {
    untold.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl Drop for OpenCall {
    /// Whoever asked gave up before anything was started.
    fn drop(&mut self) {
        if let Some(late) = self.started.take() {
            late.teller.abort();
        }
        let (Some(trail), Some(call)) = (self.recorder.trail.clone(), self.call.take()) else { return };
        if tokio::runtime::Handle::try_current().is_ok() {
            let closed = Closed::refused(call, "the call was given up before its command started");
            self.recorder.tasks.spawn_blocking(move || told(&trail, vec![closed.into()]));
        }
    }
}

/// A record that only tells of what has happened anyway: failing to write it is said aloud.
fn told(trail: &Trail, entries: Vec<Entry>) {
    if let Err(error) = trail.append_all(entries) {
        tracing::error!(%error, "a record could not be written");
    }
}

fn judged(call: CallId, request: &Request, verdict: Option<&Verdict>, plan: Option<&Plan>) -> Judged {
    Judged {
        call,
        door: request.caller.door.0.to_string(),
        client: request.caller.client.as_ref().map(Into::into),
        principal: request.caller.principal.name().to_owned(),
        command: request.work.to_string(),
        commands: verdict
            .map(|verdict| verdict.commands.iter().map(Into::into).collect())
            .unwrap_or_default(),
        program: plan.map(|plan| plan.program().to_owned()),
        directory: plan.map(|plan| plan.directory().to_owned()).or_else(|| request.cwd.clone()),
        variables: request.env.iter().map(|(name, _)| name.clone()).collect(),
        verdict: verdict.map(|verdict| Ruling {
            decision: verdict.decision,
            rule: verdict.rule.clone(),
            reason: verdict.reason.clone(),
        }),
        omitted: None,
    }
}
