//! Starting the runner, and sessions through it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use runward_model::wire::{Launch, Opened, Order, Report, Step};
use runward_model::{Abilities, Containment, SessionId, Size, Tier};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::Pid;
use tokio::net::UnixStream;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::child::{Child, Commands, Output, Reports};
use crate::link::{Link, Orders, link};
use crate::{Error, Input, Loopback, Peers, Stdio, Terminal, pipes, proxy_listener};

/// The name that makes the executable a runner; the same as in the `runner` crate.
const RUNNER_NAME: &str = "runward-runner";

/// How long an ending runner is waited for.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// How long a start may take before the runner is told to go on, should somebody have stopped it.
const SLOW: Duration = Duration::from_millis(500);

/// How long it may then take before the runner is replaced, and how long a new runner may take to be ready.
const STUCK: Duration = Duration::from_secs(5);

/// Which executable is the runner, and which containment it should use.
#[derive(Clone, Debug)]
pub struct RunnerProgram {
    /// An executable that becomes a runner when it is called by that name.
    pub path: PathBuf,
    /// The only containment to use; `None` is the strongest that works here.
    pub containment: Option<Containment>,
    /// The strongest confinement to try; a weaker one is for trying out what a weaker host would do.
    pub tier: Tier,
    /// How many descriptors commands may have open, where that is less than what this process may.
    pub descriptors: Option<u64>,
}

impl Default for RunnerProgram {
    /// This very executable, even if its file has been replaced since.
    fn default() -> Self {
        RunnerProgram {
            path: "/proc/self/exe".into(),
            containment: None,
            tier: Tier::Full,
            descriptors: None,
        }
    }
}

/// Starts sessions, through a runner that it starts when it is first needed.
#[derive(Debug)]
pub struct Spawner {
    program: RunnerProgram,
    next: AtomicU64,
    runner: Mutex<Option<Runner>>,
    peers: Peers,
}

/// A runner that is running.
#[derive(Debug)]
struct Runner {
    orders: Orders,
    containment: Containment,
    abilities: Arc<Abilities>,
    task: JoinHandle<()>,
    process: std::process::Child,
}

/// What is needed of a runner to start a session.
struct Usable {
    orders: Orders,
    containment: Containment,
    abilities: Arc<Abilities>,
}

impl Runner {
    fn usable(&self) -> Usable {
        let (containment, abilities) = (self.containment, self.abilities.clone());
        Usable { orders: self.orders.clone(), containment, abilities }
    }
}

impl Spawner {
    /// Starts nothing yet.
    pub fn new(program: RunnerProgram) -> Self {
        Spawner { program, next: AtomicU64::new(1), runner: Mutex::new(None), peers: Peers::default() }
    }

    /// Starts a session in the open directory `cwd`.
    pub async fn spawn(&self, launch: Launch, cwd: OwnedFd, stdio: Stdio) -> Result<Child, Error> {
        self.spawn_opened(launch, None, cwd, stdio).await
    }

    /// The same with a program that is executed by an open descriptor, whatever its path leads to by then.
    pub async fn spawn_opened(
        &self,
        launch: Launch,
        program: Option<(OwnedFd, Opened)>,
        cwd: OwnedFd,
        stdio: Stdio,
    ) -> Result<Child, Error> {
        let Usable { orders, containment, .. } = self.usable().await?;
        let enclosed = launch.fence().is_some_and(|fence| fence.tier.has_namespaces());
        let containment = if enclosed { Containment::Namespace } else { containment };
        if launch.fence().is_none_or(|fence| fence.tier == Tier::None) {
            self.peers.let_loose();
        }
        let session = SessionId(self.next.fetch_add(1, Ordering::Relaxed));
        let (near, far) = ends(stdio).map_err(Error::Pipes)?;
        let launch = if near.terminal.is_some() { launch.on_terminal() } else { launch };
        let mut fds: Vec<OwnedFd> = [cwd].into_iter().chain(far).collect();
        let launch = match program {
            Some((program, opened)) => {
                fds.push(program);
                launch.opened(opened)
            }
            None => launch,
        };
        let channel =
            if launch.has_proxy() { Some(proxy_listener::channel().map_err(Error::Pipes)?) } else { None };
        let (channel, far) = channel.unzip();
        fds.extend(far);
        let mut loopback = Loopback::Host;
        if launch.is_reached() {
            let (near, far) = Loopback::own().map_err(Error::Pipes)?;
            (loopback, fds) = (near, fds.into_iter().chain([far]).collect());
        }
        let reports = orders.spawn(session, launch, fds)?;
        let mut child = Child {
            session,
            pid: 0,
            containment,
            terminal: near.terminal,
            stdout: Some(near.stdout),
            stderr: near.stderr,
            stdin: near.stdin,
            proxy_listener: None,
            loopback,
            reports: Reports::new(session, reports),
            orders: Commands::Runner(orders.clone()),
        };
        match self.first_report(&mut child, &orders).await? {
            Report::Started { pid, .. } => {
                child.pid = pid;
                child.proxy_listener =
                    channel.as_ref().map(proxy_listener::take).transpose().map_err(Error::Pipes)?;
                Ok(child)
            }
            Report::Failed { step, errno, .. } => Err(failure(step, errno)),
            _ => Err(Error::RunnerGone),
        }
    }

    /// What becomes of a spawn. A runner that does not answer was stopped by a command: it is told to go on, and
    /// replaced if that does not help.
    async fn first_report(&self, child: &mut Child, orders: &Orders) -> Result<Report, Error> {
        for patience in [SLOW, STUCK] {
            if let Ok(report) = tokio::time::timeout(patience, child.reports.next()).await {
                return Ok(report);
            }
            orders.resume_runner();
        }
        if let Some(stuck) = self.runner.lock().await.as_mut() {
            tracing::error!("the runner does not answer and is replaced; what it ran is ended");
            let _ = stuck.process.kill();
        }
        Err(Error::RunnerStuck)
    }

    /// Ends the runner, and with it whatever still runs; returns when it is gone.
    pub async fn shutdown(&self) {
        let runner = self.runner.lock().await.take();
        let Some(Runner { orders, mut task, mut process, .. }) = runner else { return };
        orders.resume_runner();
        drop(orders);
        if tokio::time::timeout(LAST_WAIT, &mut task).await.is_err() {
            let _ = process.kill();
            let _ = tokio::time::timeout(LAST_WAIT, task).await;
        }
        let _ = process.wait();
    }

    /// Lets go of what the commands of a workspace share, once the last of them has ended.
    pub fn leave(&self, workspace: u64) {
        // A runner that is just being started, or replaced, has nothing of it yet or any more.
        if let Ok(runner) = self.runner.try_lock()
            && let Some(runner) = &*runner
        {
            runner.orders.send(&Order::Leave { workspace });
        }
    }

    /// Who tells commands from everybody else.
    pub fn peers(&self) -> &Peers {
        &self.peers
    }

    /// What commands can be confined by on this host; starts the runner should it not run yet.
    pub async fn abilities(&self) -> Result<Arc<Abilities>, Error> {
        Ok(self.usable().await?.abilities)
    }

    async fn usable(&self) -> Result<Usable, Error> {
        let mut runner = self.runner.lock().await;
        if let Some(running) = runner.as_ref().filter(|running| running.orders.is_open()) {
            return Ok(running.usable());
        }
        if let Some(mut lost) = runner.take() {
            let _ = lost.process.try_wait();
        }
        let started = tokio::time::timeout(STUCK, start(&self.program, &self.peers)).await;
        let started = started.map_err(|_| Error::RunnerStuck)?.map_err(Error::Runner)?;
        let usable = started.usable();
        *runner = Some(started);
        Ok(usable)
    }
}

/// The server's ends of a child's descriptors.
struct Near {
    terminal: Option<Arc<Terminal>>,
    stdin: Option<Input>,
    stdout: Output,
    stderr: Option<Output>,
}

/// The server's ends, and the child's descriptors 0 to 2.
fn ends(wanted: Stdio) -> io::Result<(Near, [OwnedFd; 3])> {
    let (stdin, child_stdin) = match wanted {
        Stdio::Pipes => (None, pipes::empty_input()?),
        Stdio::Piped => pipes::input().map(|(near, far)| (Some(Input::Pipe(near)), far))?,
        Stdio::Terminal(size) => return terminal_ends(size),
    };
    let (stdout, child_stdout) = pipes::output()?;
    let (stderr, child_stderr) = pipes::output()?;
    let (stdout, stderr) = (Output::piped(stdout), Some(Output::piped(stderr)));
    Ok((Near { terminal: None, stdin, stdout, stderr }, [child_stdin, child_stdout, child_stderr]))
}

fn terminal_ends(size: Size) -> io::Result<(Near, [OwnedFd; 3])> {
    let (terminal, far) = Terminal::open(size)?;
    let terminal = Arc::new(terminal);
    let (stdin, stdout) = (Some(Input::Terminal(terminal.clone())), Output::Terminal(terminal.clone()));
    let far = [far.try_clone()?, far.try_clone()?, far];
    Ok((Near { terminal: Some(terminal), stdin, stdout, stderr: None }, far))
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that starts a process: the runner")]
async fn start(program: &RunnerProgram, peers: &Peers) -> io::Result<Runner> {
    let (near, far) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    let near = std::os::unix::net::UnixStream::from(near);
    near.set_nonblocking(true)?;
    // No environment: a runner's memory is in reach of whoever may trace it, and it needs none.
    let process = Command::new(&program.path)
        .arg0(RUNNER_NAME)
        .arg(program.containment.map_or("auto", Containment::name))
        .arg(program.tier.name())
        .args(program.descriptors.map(|most| most.to_string()))
        .env_clear()
        .stdin(far)
        .stdout(std::process::Stdio::null())
        .spawn()?;
    let (orders, mut link) =
        link(UnixStream::from_std(near)?, i32::try_from(process.id()).ok().and_then(Pid::from_raw));
    let Report::Ready { containment, cgroup, abilities } = link.ready().await.map_err(told_elsewhere)? else {
        return Err(io::Error::other("the runner's first report is not its readiness"));
    };
    tracing::debug!(?containment, ?abilities, "runner started");
    peers.started(process.id().cast_signed(), cgroup.is_some());
    let task = tokio::spawn(run_and_clean_up(link, cgroup));
    Ok(Runner { orders, containment, abilities: abilities.into(), task, process })
}

/// A runner that ends says why on the server's standard error.
fn told_elsewhere(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            io::Error::new(error.kind(), "it ended at once, and the server's standard error says why")
        }
        _ => error,
    }
}

/// Should the runner be killed, its control group still names everything that it started.
async fn run_and_clean_up(link: Link, cgroup: Option<String>) {
    link.run().await;
    if let Some(cgroup) = cgroup.as_deref().map(Path::new) {
        let _ = std::fs::write(cgroup.join("cgroup.kill"), "1");
    }
}

fn failure(step: Step, errno: i32) -> Error {
    Error::Step { step, source: io::Error::from_raw_os_error(errno) }
}
