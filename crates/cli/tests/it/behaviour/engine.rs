//! The engine itself, in this process.

use std::collections::HashMap;
use std::time::Duration;

use runward_engine::{Background, Conversation, Engine, OutputSettings, Session, Settings, Watch};
use runward_model::{
    Argv, Caller, Captured, Door as DoorName, Ending, Principal, Refusal, Request, Stdio, StopReason, View,
    Work,
};
use runward_policy::{Allowlist, Policy, SearchPath};
use runward_process::RunnerProgram;
use runward_testkit::puppet;
use tokio::runtime::Runtime;

use super::door::{Ask, CallId, Door, Setup};
use crate::reply::Reply;

struct InProcess {
    engine: Engine,
    runtime: Runtime,
    calls: HashMap<CallId, Result<Session, Refusal>>,
}

pub(super) fn open(setup: &Setup) -> Box<dyn Door> {
    let path = SearchPath::new("/usr/bin:/bin".as_ref());
    let settings = Settings {
        environment: vec![("PATH".into(), path.to_variable())],
        policy: Policy::new(Allowlist::parse(&setup.allowed), path).into(),
        cwd_roots: Vec::new(),
        allowed_directories: Vec::new(),
        log_commands: true,
        output_limit: 1 << 20,
        kill_grace: Duration::from_millis(500),
        shutdown_grace: Duration::from_millis(20),
        drain_grace: Duration::from_millis(250),
        background: Background::Kill,
        limits: runward_model::Limits::default(),
        sandboxing: runward_engine::Sandboxing::none(),
        trail: None,
        redact: true,
        secrets: Vec::new(),
        max_sessions: 64,
        queue_wait: Duration::ZERO,
        max_kept: 64,
        publish: Vec::new(),
        workspaces: runward_engine::NamedWorkspaces::default(),
        output: OutputSettings {
            directory: std::env::temp_dir().join(format!("runward-test-{}", std::process::id())),
            quota: 1 << 30,
            keep: Duration::from_hours(1),
        },
        login: runward_engine::LoginSettings::default(),
        approvals: runward_engine::ApprovalSettings::default(),
        abort_file: "/nowhere/abort".into(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let engine = Engine::with_runner(settings, RunnerProgram { path: puppet(), ..RunnerProgram::default() });
    Box::new(InProcess { engine, runtime, calls: HashMap::new() })
}

impl Door for InProcess {
    fn begin(&mut self, ask: &Ask) -> CallId {
        let request = Request {
            caller: Caller::new(DoorName::named("test"), Principal::local()),
            work: Work::Argv(Argv { file: ask.file.clone(), args: ask.args.clone() }),
            cwd: ask.cwd.clone().map(Into::into),
            env: Vec::new(),
            door_env: Vec::new(),
            stdio: ask.input.clone().map_or(Stdio::Pipes, |text| Stdio::Given(text.into_bytes())),
            timeout: Some(ask.timeout),
            workflow: runward_model::Workflow::default(),
            wish: runward_model::Wish::default(),
            workspace: None,
            service: runward_model::Service::default(),
        };
        let call = CallId(self.calls.len().try_into().unwrap());
        self.calls.insert(
            call,
            self.runtime.block_on(self.engine.start(request, &Conversation::default(), Watch::Call)),
        );
        call
    }

    fn finish(&mut self, call: CallId) -> Reply {
        match self.calls.get_mut(&call).unwrap() {
            Ok(session) => reply(&self.runtime.block_on(session.ended())),
            Err(refusal) => Reply { is_error: true, error: Some(refusal.to_string()), ..Reply::default() },
        }
    }

    fn cancel(&mut self, call: CallId) {
        self.calls[&call].as_ref().unwrap().stop(StopReason::Cancelled);
    }

    fn vanish(&mut self, call: CallId) {
        drop(self.calls.remove(&call).unwrap().unwrap());
    }

    fn shut_down(&mut self) {
        self.runtime.block_on(self.engine.shutdown());
    }

    fn kill(&mut self) {
        unreachable!("the engine is this very process");
    }

    fn peak_memory_kib(&mut self) -> u64 {
        unreachable!("the engine is this very process");
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.shut_down();
    }
}

fn reply(view: &View) -> Reply {
    let outcome = &view.outcome;
    let signal = if let Ending::Signaled(signal) = outcome.ending { Some(signal.to_string()) } else { None };
    let outputs = [("stdout", &view.stdout), ("stderr", &view.stderr)];
    let invalid = outputs.iter().filter(|(_, output)| std::str::from_utf8(&output.head).is_err());
    let left = (outcome.tree.ended > 0).then(|| format!("{} ended", outcome.tree.ended));
    Reply {
        is_error: outcome.stopped.is_some(),
        exit_code: Some(outcome.exit_code().into()),
        stdout: text(&view.stdout),
        stderr: text(&view.stderr),
        signal,
        error: outcome.stopped.map(|reason| reason.to_string()),
        missing: view.stdout.missing,
        invalid_utf8: invalid.map(|(name, _)| (*name).to_owned()).collect(),
        background: left,
    }
}

fn text(output: &Captured) -> String {
    String::from_utf8_lossy(&[output.head.as_slice(), &output.tail].concat()).into_owned()
}
