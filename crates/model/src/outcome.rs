//! How a session ended.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{LimitHit, SessionId};

/// How a session ended and what it cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// How its first process ended.
    pub ending: Ending,
    /// Why it was stopped, if it was.
    pub stopped: Option<StopReason>,
    /// From start to the end of its first process.
    pub wall: Duration,
    /// What it used.
    pub usage: Usage,
    /// What became of the processes that it started.
    pub tree: Tree,
    /// The limit that it ran into, where the kernel tells.
    pub limit_hit: Option<LimitHit>,
    /// Whether, when its time was up, one of its processes was waiting for input.
    pub waiting_for_input: bool,
    /// Whether its outputs were still held open when the drain grace was over, so that something may be missing.
    pub output_cut: bool,
    /// What the sandbox kept it from and how to widen that, where this is known.
    pub denied: Option<String>,
}

impl Outcome {
    /// What there is to say of an end that nobody saw.
    pub const LOST: &str = "nobody saw how it ended, since the runner was killed; its processes were ended";

    /// An end in some way, with nothing else to say of it.
    pub fn of(ending: Ending) -> Self {
        Outcome {
            ending,
            stopped: None,
            wall: Duration::ZERO,
            usage: Usage::default(),
            tree: Tree::default(),
            limit_hit: None,
            waiting_for_input: false,
            output_cut: false,
            denied: None,
        }
    }

    /// The exit code that replies carry: 124 after a timeout, 128+n after death by signal n, else the process's own.
    pub fn exit_code(&self) -> i32 {
        match (self.stopped, self.ending) {
            (Some(StopReason::TimedOut(_)), _) => 124,
            (_, Ending::Exited(code)) => code,
            (_, Ending::Signaled(Signal(number))) => 128 + number,
            (_, Ending::Lost) => 255,
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signaled(Signal),
    /// Nobody saw: the runner itself was killed. Its tree was ended.
    Lost,
}

/// A signal by number, shown by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal(pub i32);

impl Signal {
    /// The terminal is gone.
    pub const HUP: Signal = Signal(1);
    /// As ^C does.
    pub const INT: Signal = Signal(2);
    /// Please end.
    pub const TERM: Signal = Signal(15);
    /// End now.
    pub const KILL: Signal = Signal(9);

    /// Every signal that a system has.
    pub fn all() -> impl Iterator<Item = Signal> {
        (1..=64).map(Signal)
    }

    /// A signal by the name that it is shown by.
    pub fn named(name: &str) -> Option<Signal> {
        Signal::all().find(|signal| signal.to_string() == name)
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 32] = [
            "0", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
            "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU",
            "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
        ];
        match usize::try_from(self.0).ok().and_then(|number| NAMES.get(number)) {
            Some(name) => write!(f, "SIG{name}"),
            None => write!(f, "signal {}", self.0),
        }
    }
}

/// Why a session was stopped before it ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopReason {
    /// It ran for longer than this.
    TimedOut(Duration),
    /// The caller cancelled the call.
    Cancelled,
    /// The caller went away.
    Disconnected,
    /// It had to make room for another session.
    Evicted,
    /// The server is stopping.
    ShuttingDown,
}

impl StopReason {
    /// The word that programs are told.
    pub const fn name(self) -> &'static str {
        match self {
            StopReason::TimedOut(_) => "timeout",
            StopReason::Cancelled => "cancelled",
            StopReason::Disconnected => "disconnected",
            StopReason::Evicted => "evicted",
            StopReason::ShuttingDown => "shutting_down",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::TimedOut(limit) => write!(f, "Timed out after {}ms", limit.as_millis()),
            StopReason::Cancelled => f.write_str("Cancelled by the caller"),
            StopReason::Disconnected => f.write_str("The caller went away"),
            StopReason::Evicted => f.write_str("Evicted to make room for another session"),
            StopReason::ShuttingDown => f.write_str("The server is shutting down"),
        }
    }
}

/// What a session used: its first process and every descendant that was waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Processor time in user code.
    pub user: Duration,
    /// Processor time in the kernel.
    pub system: Duration,
    /// The largest resident size of any one process, in KiB.
    pub max_rss_kib: u64,
}

/// What became of the processes that a session's first process left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    /// What held the tree together.
    pub containment: Containment,
    /// How many were still there when the first process had ended, and were ended.
    pub ended: u32,
    /// Whether those that were still there were left alone, as the operator wants it.
    pub kept: bool,
    /// Those that could not be ended, by process id. Empty unless the containment is best effort.
    pub survivors: Vec<i32>,
    /// Those that go on as a session of their client, where they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<LeftBehind>,
}

/// Processes that a command has left behind and that go on as a session of its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftBehind {
    /// How many there were when the command had ended.
    pub processes: u32,
    /// By which number the client finds them again.
    pub session: SessionId,
}

impl fmt::Display for LeftBehind {
    /// In plain words: letters, digits, blanks and `,._-`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LeftBehind { processes, session } = self;
        let (count, go) = if *processes == 1 { ("process", "goes") } else { ("processes", "go") };
        write!(f, "{processes} {count} {go} on as session {session}, see read_session and kill_session")
    }
}

impl Tree {
    /// What became of those that were left behind, in words, where there were any.
    pub fn left_in_words(&self) -> Option<String> {
        self.left.map(|left| left.to_string()).or_else(|| self.ended_in_words())
    }

    /// How many were ended, in words, where any were.
    pub fn ended_in_words(&self) -> Option<String> {
        match self.ended {
            0 => None,
            1 => Some("1 process that was still running was ended".to_owned()),
            count => Some(format!("{count} processes that were still running were ended")),
        }
    }
}

/// What holds a session's process tree together, strongest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Containment {
    /// A control group of its own: `cgroup.kill` ends every member at once.
    Cgroup,
    /// A PID namespace of its own: the kernel ends every member when its first process goes.
    Namespace,
    /// A keeper that adopts orphans and hunts descendants. Best effort: a process that forks fast enough may escape.
    #[default]
    Keeper,
}

impl Containment {
    /// All of them, strongest first.
    pub const ALL: [Containment; 3] = [Containment::Cgroup, Containment::Namespace, Containment::Keeper];

    /// The name that settings and reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Containment::Cgroup => "cgroup",
            Containment::Namespace => "namespace",
            Containment::Keeper => "keeper",
        }
    }

    /// Whether a process could escape the end of its session.
    pub const fn is_best_effort(self) -> bool {
        matches!(self, Containment::Keeper)
    }
}
