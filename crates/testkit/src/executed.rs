//! Everything that a command starts: programs and arguments, its descendants' included.

use std::collections::HashSet;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nix::libc::PTRACE_EVENT_EXEC;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// A program that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// Its file, without links.
    pub program: PathBuf,
    /// Its name and arguments, as they were handed over.
    pub argv: Vec<String>,
}

/// What a command did.
#[derive(Debug)]
pub struct Recorded {
    /// What was executed, the command's own program first.
    pub executed: Vec<Executed>,
    /// Whether it came to its end in time. What did not is killed.
    pub ended: bool,
}

/// More processes at once are killed like those that take too long.
const MOST_PROCESSES: usize = 100;

/// How long a command and its descendants may take.
const LONGEST: Duration = Duration::from_secs(3);

type Live = Arc<Mutex<HashSet<Pid>>>;

/// Runs a command to the end of its last descendant and notes what is executed; `None` where processes cannot be traced.
/// The command is written as its words; `prepare` says where and as whom it runs.
pub fn executed(words: &[&str], prepare: impl FnOnce(&mut Command)) -> Option<Recorded> {
    let child = stopped(words, prepare);
    let options = Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_EXITKILL;
    if ptrace::seize(child, options).is_err() {
        let _ = kill(child, Signal::SIGKILL);
        let _ = waitpid(child, None);
        return None;
    }
    kill(child, Signal::SIGCONT).expect("a child can be continued");
    Some(followed(child))
}

/// A process that waits to be traced before it becomes the command, in a process group of its own, so that nothing else is
/// met by the signals that a script sends.
#[expect(clippy::disallowed_methods, reason = "a test starts what it records")]
fn stopped(words: &[&str], prepare: impl FnOnce(&mut Command)) -> Pid {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "kill -STOP $$; exec \"$@\"", "sh"]).args(words).stdin(Stdio::null());
    prepare(&mut command);
    command.process_group(0);
    loop {
        let child = Pid::from_raw(command.spawn().expect("sh starts").id().cast_signed());
        let status = waitpid(child, Some(WaitPidFlag::WUNTRACED)).expect("a child can be waited for");
        // What was run before may have sent signals to everything that its user has.
        if matches!(status, WaitStatus::Stopped(..)) {
            return child;
        }
    }
}

fn followed(child: Pid) -> Recorded {
    let live: Live = Arc::new(Mutex::new(HashSet::from([child])));
    let (ended, over) = channel::<()>();
    let watched = live.clone();
    let watchdog = std::thread::spawn(move || kill_when_late(&watched, &over));
    let mut executed = Vec::new();
    // The kernel keeps children apart by the thread that started or traces them.
    while let Ok(status) = waitpid(None, Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD)) {
        let Some(pid) = status.pid() else { continue };
        if matches!(status, WaitStatus::Exited(..) | WaitStatus::Signaled(..)) {
            live.lock().unwrap().remove(&pid);
            continue;
        }
        live.lock().unwrap().insert(pid);
        if matches!(status, WaitStatus::PtraceEvent(_, _, PTRACE_EVENT_EXEC)) {
            executed.extend(at_exec(pid));
        }
        let signal = if let WaitStatus::Stopped(_, signal) = status { Some(signal) } else { None };
        // It may have been killed meanwhile.
        let _ = ptrace::cont(pid, signal);
    }
    drop(ended);
    let late = watchdog.join().unwrap();
    Recorded { executed, ended: !late }
}

/// Kills whatever is left when time is over, or at once when there are too many; whether it had to.
fn kill_when_late(live: &Live, over: &Receiver<()>) -> bool {
    const STEP: Duration = Duration::from_millis(50);
    let mut waited = Duration::ZERO;
    let mut late = false;
    while matches!(over.recv_timeout(STEP), Err(RecvTimeoutError::Timeout)) {
        waited += STEP;
        let live = live.lock().unwrap();
        late |= waited >= LONGEST || live.len() > MOST_PROCESSES;
        for pid in live.iter().filter(|_| late) {
            let _ = kill(*pid, Signal::SIGKILL);
        }
    }
    late
}

fn at_exec(pid: Pid) -> Option<Executed> {
    let of = |name: &str| format!("/proc/{pid}/{name}");
    // One that was killed in this moment has no program any more.
    let program = std::fs::read_link(of("exe")).ok()?;
    let line = std::fs::read(of("cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&line);
    let argv = text.strip_suffix('\0').unwrap_or(&text).split('\0').map(str::to_owned).collect();
    Some(Executed { program, argv })
}
