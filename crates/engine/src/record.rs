//! Record: one record opens a call, one closes it, whatever happens in between.
//!
//! Writing may wait for a disk or for another server, so it is done beside the runtime, never on it.

use std::sync::Arc;

use runward_audit::redact::Secrets;
use runward_audit::{CallId, Closed, Entry, Judged, Output, Ruling, Started, Trail};
use runward_model::{Outcome, Refusal, Request, Stream, Verdict};
use runward_process::Child;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::log::EventLog;
use crate::plan::Plan;

/// Where calls are recorded, if they are. Every write is one of the engine's tasks, so a shutdown waits for it.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    trail: Option<Arc<Trail>>,
    tasks: TaskTracker,
}

/// A call that was opened and has to be closed.
#[derive(Debug)]
pub(crate) struct OpenCall {
    recorder: Recorder,
    /// Gone once it is closed.
    call: Option<CallId>,
    started: Option<JoinHandle<()>>,
}

impl Recorder {
    pub(crate) fn new(trail: Option<Arc<Trail>>, tasks: TaskTracker) -> Self {
        Recorder { trail, tasks }
    }

    /// Opens the record of what is about to run. What cannot be recorded does not run.
    pub(crate) async fn open(&self, plan: &Plan, secrets: &Secrets) -> Result<OpenCall, Refusal> {
        let call = CallId::fresh();
        if let Some(trail) = self.trail.clone() {
            let judged =
                judged(call.clone(), plan.request(), Some(plan.verdict()), Some(plan)).without(secrets);
            let written = self.tasks.spawn_blocking(move || trail.append(judged)).await;
            let failed = match written {
                Ok(Ok(_)) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(error) => Some(error.to_string()),
            };
            if let Some(reason) = failed {
                return Err(Refusal::Unrecorded(reason));
            }
        }
        Ok(OpenCall { recorder: self.clone(), call: Some(call), started: None })
    }

    /// Records a call of which nothing ran, and why. Waits for nothing: there is nothing to keep from running.
    pub(crate) fn refuse(&self, request: &Request, refusal: &Refusal, secrets: &Secrets) {
        let Some(trail) = self.trail.clone() else { return };
        let verdict = match refusal {
            Refusal::Denied(verdict) => Some(verdict),
            _ => None,
        };
        let call = CallId::fresh();
        let opening = judged(call.clone(), request, verdict, None).without(secrets);
        let closing = Closed::refused(call, secrets.redact_text(&refusal.to_string()));
        self.tasks.spawn_blocking(move || told(&trail, [opening.into(), closing.into()]));
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
    /// Its first process runs.
    pub(crate) fn started(&mut self, child: &Child) {
        let (Some(trail), Some(call)) = (self.recorder.trail.clone(), self.call.clone()) else { return };
        let started = Started { call, session: child.session, pid: child.pid };
        self.started = Some(self.recorder.tasks.spawn_blocking(move || told(&trail, [started.into()])));
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
        if let Some(started) = self.started.take() {
            let _ = started.await;
        }
        if let (Some(trail), Some(call)) = (self.recorder.trail.clone(), self.call.take()) {
            let closed = closed(call);
            let _ = self.recorder.tasks.spawn_blocking(move || told(&trail, [closed.into()])).await;
        }
    }
}

impl Drop for OpenCall {
    /// Whoever asked gave up before anything was started.
    fn drop(&mut self) {
        let (Some(trail), Some(call)) = (self.recorder.trail.clone(), self.call.take()) else { return };
        if tokio::runtime::Handle::try_current().is_ok() {
            let closed = Closed::refused(call, "the call was given up before its command started");
            self.recorder.tasks.spawn_blocking(move || told(&trail, [closed.into()]));
        }
    }
}

/// A record that only tells of what has happened anyway: failing to write it is said aloud.
fn told<const N: usize>(trail: &Trail, entries: [Entry; N]) {
    if let Err(error) = trail.append_all(entries) {
        tracing::error!(%error, "a record could not be written");
    }
}

fn judged(call: CallId, request: &Request, verdict: Option<&Verdict>, plan: Option<&Plan>) -> Judged {
    Judged {
        call,
        door: request.caller.door.0.to_owned(),
        client: request.caller.client.as_ref().map(Into::into),
        principal: request.caller.principal.0.to_string(),
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
    }
}
