//! Confined commands: what they may do, what they may not, and what they see of each other.

mod alone;
mod each_other;
mod hosts;
mod tools;
mod widen;

use std::path::{Path, PathBuf};
use std::time::Duration;

use runward_engine::{Engine, Sandboxing, Settings};
use runward_model::{Profile, Request, Tier, View};
use runward_process::RunnerProgram;
use runward_proxy::Reach;
use runward_sandbox::Fallback;
use runward_testkit::{puppet, skipped};

use crate::setup::{MINUTE, run, script, settings, start};

/// Settings that confine commands.
pub(crate) fn confined(profile: Profile) -> Settings {
    let usual = runward_sandbox::Settings {
        profile,
        writable_roots: Vec::new(),
        deny_read: Vec::new(),
        visible: Vec::new(),
        own: Vec::new(),
        kept: Vec::new(),
        fallback: Fallback::Refuse,
        temporary_size: 1 << 30,
        keep: MINUTE,
        held: None,
        home: None,
        // What tests make lies in the repository of their own sources.
        caches: runward_sandbox::CacheSettings::default(),
        projects: runward_sandbox::Projects {
            ceilings: vec![env!("CARGO_TARGET_TMPDIR").into()],
            ..Default::default()
        },
    };
    Settings { sandboxing: Sandboxing { usual, reach: Reach::Off, doors: Vec::new() }, ..settings() }
}

/// A directory with a workspace, `work`, and a file `outside/file` that must stay as it is. Not among temporary files,
/// which a confined command has its own of.
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let directory =
            tempfile::tempdir_in(runward_testkit::seen_by_the_confined(env!("CARGO_TARGET_TMPDIR"))).unwrap();
        std::fs::create_dir_all(directory.path().join("work")).unwrap();
        std::fs::create_dir_all(directory.path().join("outside")).unwrap();
        std::fs::write(directory.path().join("outside/file"), "as it was\n").unwrap();
        Place(directory)
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.0.path().join("work").canonicalize().unwrap()
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.0.path().join("outside").canonicalize().unwrap()
    }

    pub(crate) fn is_untouched(&self) -> bool {
        let names = names(&self.outside());
        let text = std::fs::read_to_string(self.outside().join("file"));
        names == ["file"] && text.is_ok_and(|text| text == "as it was\n")
    }
}

pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Runs a test with an engine that confines, where this host can.
pub(crate) fn with(settings: Settings, test: impl AsyncFnOnce(&Engine)) {
    with_tier(settings, Tier::Full, test);
}

pub(crate) fn with_tier(settings: Settings, tier: Tier, test: impl AsyncFnOnce(&Engine)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let program = RunnerProgram { path: puppet(), tier, ..RunnerProgram::default() };
        let engine = Engine::with_runner(settings, program);
        match start(&engine, script("true")).await {
            Err(refusal @ runward_model::Refusal::Unconfinable(_)) => skipped(&refusal.to_string()),
            first => {
                assert_eq!(first.unwrap().ended().await.outcome.exit_code(), 0);
                test(&engine).await;
                engine.shutdown().await;
            }
        }
    });
}

pub(crate) fn inside(directory: &Path, request: Request) -> Request {
    Request { cwd: Some(directory.to_owned()), timeout: Some(Duration::from_mins(3)), ..request }
}

/// A script in a directory: its exit code and both outputs.
pub(crate) async fn sh(engine: &Engine, directory: &Path, text: &str) -> (i32, String, String) {
    let view = run(engine, inside(directory, script(text))).await;
    told(&view)
}

/// The same on behalf of another client.
pub(crate) async fn sh_for(
    engine: &Engine,
    client: &str,
    directory: &Path,
    text: &str,
) -> (i32, String, String) {
    told(&run(engine, inside(directory, for_client(client, script(text)))).await)
}

pub(crate) fn for_client(client: &str, mut request: Request) -> Request {
    request.caller.principal = request.caller.principal.client(client);
    request
}

pub(crate) fn told(view: &View) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (view.outcome.exit_code(), text(&view.stdout.head), text(&view.stderr.head))
}
