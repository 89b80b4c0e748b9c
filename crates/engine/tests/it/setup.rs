//! An engine for a test.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use runward_engine::{Conversation, Engine, Session, Settings, Watch};
use runward_model::{
    Argv, Caller, Containment, Door, Principal, Profile, Refusal, Request, Verdict, View, Work,
};
use runward_process::RunnerProgram;
use runward_testkit::{puppet, skipped};

pub(crate) const MINUTE: Duration = Duration::from_mins(1);

pub(crate) fn settings() -> Settings {
    runward_testkit::engine_settings()
}

pub(crate) fn engine(settings: Settings, containment: Option<Containment>) -> Engine {
    Engine::with_runner(settings, RunnerProgram { path: puppet(), containment, ..RunnerProgram::default() })
}

/// Runs a test under every containment; one that this host lacks is skipped aloud.
pub(crate) fn under_each_containment(test: impl AsyncFn(&Engine)) {
    under_each_containment_with(&settings(), test);
}

#[expect(clippy::needless_pass_by_value, reason = "a closure at the end of a call reads best by value")]
pub(crate) fn under_each_containment_with(settings: &Settings, test: impl AsyncFn(&Engine)) {
    for containment in Containment::ALL {
        eprintln!("under {}", containment.name());
        under(engine_later(settings.clone(), Some(containment)), &test);
    }
    eprintln!("in a sandbox");
    under(engine_later(confined(settings.clone()), None), &test);
}

/// The same with commands confined to their directory and the temporary files that tests make.
fn confined(mut settings: Settings) -> Settings {
    settings.sandboxing.reach = runward_proxy::Reach::Off;
    settings.sandboxing.usual = runward_sandbox::Settings {
        profile: Profile::WorkspaceWrite,
        writable_roots: vec![std::env::temp_dir(), env!("CARGO_TARGET_TMPDIR").into()],
        keep: MINUTE,
        ..settings.sandboxing.usual
    };
    settings
}

fn engine_later(settings: Settings, containment: Option<Containment>) -> impl FnOnce() -> Engine {
    move || engine(settings, containment)
}

fn under(engine: impl FnOnce() -> Engine, test: &impl AsyncFn(&Engine)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let engine = engine();
        match start(&engine, ask(&["exit", "0"])).await {
            Err(Refusal::StartFailed { reason, .. }) if reason.contains("runner could not be started") => {
                skipped(&format!("not on this host: {reason}"));
            }
            Err(refusal @ Refusal::Unconfinable(_)) => skipped(&refusal.to_string()),
            first => {
                assert_eq!(first.unwrap().ended().await.outcome.exit_code(), 0);
                test(&engine).await;
                engine.shutdown().await;
            }
        }
    });
}

pub(crate) fn caller() -> Caller {
    Caller::new(Door::named("test"), Principal::local())
}

/// The puppet with these verbs.
pub(crate) fn ask(verbs: &[&str]) -> Request {
    let file = puppet().to_str().unwrap().to_owned();
    let args = verbs.iter().map(|verb| (*verb).to_owned()).collect();
    Request {
        caller: caller(),
        work: Work::Argv(Argv { file, args }),
        cwd: None,
        env: Vec::new(),
        door_env: Vec::new(),
        stdio: runward_model::Stdio::Pipes,
        timeout: Some(MINUTE),
        workflow: runward_model::Workflow::default(),
        wish: runward_model::Wish::default(),
        workspace: None,
        service: runward_model::Service::default(),
    }
}

pub(crate) fn line(text: &str) -> Request {
    Request { work: Work::Line(text.into()), ..ask(&[]) }
}

pub(crate) fn script(text: &str) -> Request {
    let args = vec!["-c".to_owned(), text.to_owned()];
    Request { work: Work::Argv(Argv { file: "bash".into(), args }), ..ask(&[]) }
}

/// Starts it as a call does that waits for its end.
pub(crate) async fn start(engine: &Engine, request: Request) -> Result<Session, Refusal> {
    engine.start(request, &Conversation::default(), Watch::Call).await
}

/// What the policy says of it.
pub(crate) fn check(engine: &Engine, request: &Request) -> Result<Verdict, Refusal> {
    engine.inspect(request).map(|inspected| inspected.verdict)
}

pub(crate) async fn run(engine: &Engine, request: Request) -> View {
    start(engine, request).await.unwrap().ended().await
}

/// Waits until it has printed `text`.
pub(crate) async fn until_printed(session: &Session, text: &str) {
    let mut position = session.log().watch();
    loop {
        let seen = session.log().captured(runward_model::Stream::Stdout).head;
        if String::from_utf8_lossy(&seen).contains(text) {
            return;
        }
        position.changed().await.unwrap();
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub(crate) fn variable(name: &str, value: &str) -> (OsString, OsString) {
    (name.into(), value.into())
}

pub(crate) fn canonical(path: &std::path::Path) -> PathBuf {
    path.canonicalize().unwrap()
}

/// The runner above a session: the nearest ancestor of its first process that is called so.
pub(crate) fn runner_of(session: &Session) -> i32 {
    let mut pid = session.pid();
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let parent: i32 = stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().parse().unwrap();
        if u32::try_from(parent).unwrap() == std::process::id() {
            return pid;
        }
        pid = parent;
    }
}

/// Runs a test under the strongest containment of this host.
pub(crate) fn block_on<T>(settings: Settings, test: impl AsyncFnOnce(&Engine) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let engine = engine(settings, None);
        let result = test(&engine).await;
        engine.shutdown().await;
        result
    })
}
