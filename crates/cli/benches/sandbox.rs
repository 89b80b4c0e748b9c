//! What confinement costs: `/bin/true` started bare, confined in every way, and under bubblewrap, in one run.
//!
//! Prints ratios against a bare spawn that is measured in turns with the rest. Run it with `cargo bench --bench sandbox`;
//! an argument such as `--memory=2048` makes this process that many megabytes large first.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a program that measures, and stops when it cannot"
)]

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use runward_model::wire::Report;
use runward_model::{Abilities, Fence, Limits, Network, Profile, Tier};
use runward_process::{OwnProgram, RunnerProgram, Spawner, Stdio as Descriptors};
use runward_sandbox::{Fallback, Scene, Settings};

mod common;

use common::{Bare, median, plausible, timed};

const ROUNDS: usize = 60;
const EACH: usize = 10;

/// A way of starting `/bin/true`, what it should cost at most, and what it did cost.
struct Way {
    name: &'static str,
    aim: Option<f64>,
    times: Vec<Duration>,
}

fn main() {
    if Bare::serve() || std::env::args().any(|arg| arg == "--list") {
        return;
    }
    let memory = std::env::args().find_map(|arg| arg.strip_prefix("--memory=")?.parse::<usize>().ok());
    let ballast = vec![1u8; memory.unwrap_or(0) << 20];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(measure());
    assert_eq!(ballast.len(), memory.unwrap_or(0) << 20);
}

async fn measure() {
    let spawner = Spawner::new(RunnerProgram {
        path: env!("CARGO_BIN_EXE_runward").into(),
        ..RunnerProgram::default()
    });
    let workspace = tempfile::tempdir().unwrap();
    let cwd = workspace.path().canonicalize().unwrap();
    let abilities = spawner.abilities().await.unwrap();
    println!("tier {}, Landlock {}\n", abilities.tier, abilities.landlock);
    let mut bare = Way { name: "bare spawn", aim: None, times: Vec::new() };
    let mut wrapped = Way { name: "bubblewrap", aim: None, times: Vec::new() };
    let mut ways: Vec<(Way, Option<Fence>)> = fences(&cwd, &abilities)
        .into_iter()
        .map(|(name, aim, fence)| (Way { name, aim, times: Vec::new() }, fence))
        .collect();
    let mut least_of_all = Bare::start();
    let has_bubblewrap = Command::new("bwrap").arg("--version").output().is_ok();
    for _ in 0..ROUNDS {
        bare.times.extend(least_of_all.measure(EACH));
        for (way, fence) in &mut ways {
            for _ in 0..EACH {
                let start = Instant::now();
                through(&spawner, fence.clone(), &cwd).await;
                way.times.push(start.elapsed());
                // A sandbox that is not kept is still being taken down.
                if way.name.contains("cold") {
                    tokio::time::sleep(Duration::from_millis(3)).await;
                }
            }
        }
        if has_bubblewrap {
            wrapped.times.push(timed(|| run(bubblewrap(&cwd))));
        }
    }
    let unit = median(&mut bare.times);
    tell(&mut bare, unit);
    for (way, _) in &mut ways {
        tell(way, unit);
    }
    if has_bubblewrap {
        tell(&mut wrapped, unit);
    } else {
        println!("bubblewrap is not installed");
    }
    spawner.shutdown().await;
}

/// Every way through the runner, its aim, and what it is confined to.
fn fences(cwd: &Path, abilities: &Abilities) -> [(&'static str, Option<f64>, Option<Fence>); 5] {
    [
        ("through the runner, not confined", None, None),
        (
            "Landlock and seccomp",
            Some(1.3),
            Some(fence(cwd, abilities, (Tier::Landlock, Network::Off), Duration::ZERO)),
        ),
        (
            "all namespaces, warm",
            Some(1.6),
            Some(fence(cwd, abilities, (Tier::Full, Network::Off), Duration::from_mins(1))),
        ),
        (
            "the same with a list of hosts",
            None,
            Some(fence(cwd, abilities, (Tier::Full, Network::Listed), Duration::from_mins(1))),
        ),
        (
            "all namespaces, cold",
            Some(4.0),
            Some(fence(cwd, abilities, (Tier::Full, Network::Off), Duration::ZERO)),
        ),
    ]
}

fn fence(cwd: &Path, abilities: &Abilities, (tier, network): (Tier, Network), keep: Duration) -> Fence {
    let settings = Settings {
        profile: Profile::WorkspaceWrite,
        writable_roots: Vec::new(),
        deny_read: std::env::home_dir().map(|home| home.join(".ssh")).into_iter().collect(),
        visible: Vec::new(),
        own: Vec::new(),
        kept: Vec::new(),
        fallback: Fallback::Warn,
        temporary_size: 1 << 30,
        keep,
        held: None,
        home: std::env::home_dir(),
        caches: runward_sandbox::CacheSettings::default(),
        projects: runward_sandbox::Projects::default(),
    };
    let abilities = Abilities { tier, ..abilities.clone() };
    let scene = Scene { cwd, program: Path::new("/bin/true"), projects: &[] };
    let confined = settings.confine(Profile::WorkspaceWrite, network, scene, &abilities);
    let mut fence = confined.unwrap().0.unwrap();
    // Only commands of one client in one workspace find a sandbox that is kept.
    fence.workspace = (!keep.is_zero()).then_some(1);
    if tier == Tier::Landlock {
        fence.temporary = CString::new(cwd.to_str().unwrap()).ok();
    }
    fence
}

async fn through(spawner: &Spawner, fence: Option<Fence>, cwd: &Path) {
    let (program, fence, limits) = (Path::new("/bin/true"), fence.as_ref(), Limits::default());
    let launch = OwnProgram { program, argv: &["true"], env: &[], limits, fence }.for_doctor().unwrap();
    let directory = OwnedFd::from(std::fs::File::open(cwd).unwrap());
    let mut child = spawner.spawn(launch, directory, Descriptors::Pipes).await.unwrap();
    match child.reports.next().await {
        Report::Exited { ending, .. } => assert_eq!(ending, runward_model::Ending::Exited(0)),
        other => panic!("{other:?}"),
    }
}

fn run(mut command: Command) {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    assert!(child.unwrap().wait_with_output().unwrap().status.success());
}

fn bubblewrap(cwd: &Path) -> Command {
    let mut command = Command::new("bwrap");
    let root = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"];
    let cwd = cwd.to_str().unwrap();
    command.args(root).args(["--bind", cwd, cwd, "--unshare-all", "--cap-drop", "ALL"]);
    command.args(["--die-with-parent", "/bin/true"]);
    command
}

fn tell(way: &mut Way, base: Duration) {
    let median = median(&mut way.times);
    let ratio = plausible(median.as_secs_f64() / base.as_secs_f64());
    let aim = way.aim.map(|aim| format!("(aim ≤ {aim})")).unwrap_or_default();
    println!("{:<34} {:>8.3} ms  {ratio:>6.2} × bare  {aim}", way.name, median.as_secs_f64() * 1000.0);
}
