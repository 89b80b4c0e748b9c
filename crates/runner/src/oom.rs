//! Who goes first when memory runs out: commands, so that neither the runner nor the server does.
//!
//! A process passes its score on to its children. The runner raises its own for as long as it takes to make one: that
//! needs no privilege and no access to the child, whose files an ordinary user may not write while nobody may look into it.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use runward_model::wire::Report;
use runward_model::{Ending, LimitHit, Signal};

use crate::{cgroup, meter};

const FILE: &str = "/proc/self/oom_score_adj";

/// Half of all memory on top of what a process uses.
const MORE: i32 = 500;

/// The most that there is.
const MOST: i32 = 1000;

/// How a shell says that a command in it was killed.
const KILLED: i32 = 128 + libc::SIGKILL;

static SCORE: OnceLock<Score> = OnceLock::new();
static KILLS: OnceLock<Kills> = OnceLock::new();

struct Score {
    file: File,
    own: String,
    raised: String,
    owner: u32,
}

/// Counts what the system has killed for memory in this process's group, else anywhere.
struct Kills {
    file: File,
    seen: AtomicU64,
}

/// Opens this process's score, while it may.
pub(crate) fn prepare() {
    if let Some(kills) = Kills::open() {
        let _ = KILLS.set(kills);
    }
    let own = fs::read_to_string(FILE).ok().and_then(|text| text.trim().parse::<i32>().ok());
    let file = OpenOptions::new().write(true).open(FILE);
    if let (Some(own), Ok(file)) = (own, file) {
        let raised = (own + MORE).min(MOST).to_string();
        let _ = SCORE.set(Score { file, own: own.to_string(), raised, owner: std::process::id() });
    }
}

/// Makes a child that goes before this process. Both come back from here after a fork.
pub(crate) fn expendable<T>(birth: impl FnOnce() -> T) -> T {
    let Some(score) = SCORE.get() else { return birth() };
    // A score that cannot be raised is no reason to run nothing.
    let _ = score.file.write_at(score.raised.as_bytes(), 0);
    let born = birth();
    if std::process::id() == score.owner {
        let _ = score.file.write_at(score.own.as_bytes(), 0);
    }
    born
}

/// The report with what no limit of its own tells: a command that was killed when the system ran out of memory.
pub(crate) fn told(report: Report) -> Report {
    match report {
        Report::Exited { session, ending, usage, hit: None, alone } if is_killed(ending) => {
            let hit = KILLS.get().is_some_and(Kills::has_grown).then_some(LimitHit::Memory);
            Report::Exited { session, ending, usage, hit, alone }
        }
        report => report,
    }
}

fn is_killed(ending: Ending) -> bool {
    matches!(ending, Ending::Signaled(Signal::KILL) | Ending::Exited(KILLED))
}

impl Kills {
    fn open() -> Option<Self> {
        let group = meter::own_group("memory").or_else(|| cgroup::own_group().ok());
        let files =
            ["memory.events", "memory.oom_control"].map(|name| group.as_ref().map(|at| at.join(name)));
        let places = files.into_iter().flatten().chain(["/proc/vmstat".into()]);
        let mut found = places.filter_map(|place| File::open(place).ok());
        found.find_map(|file| Some(Kills { seen: count(&file)?.into(), file }))
    }

    fn has_grown(&self) -> bool {
        let now = count(&self.file).unwrap_or_default();
        now > self.seen.swap(now, Ordering::Relaxed)
    }
}

fn count(file: &File) -> Option<u64> {
    let mut text = vec![0; 16 * 1024];
    let read = file.read_at(&mut text, 0).ok()?;
    meter::number_after("oom_kill", str::from_utf8(text.get(..read)?).ok()?)
}
