//! The first process of a sandbox, in which it runs one command after the other, never two at a time.

use runward_files::FileId;
use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use runward_model::wire::{Launch, Opened, Order, Report, SpawnFd, Step};
use runward_model::{Abilities, Containment, Ending, Fence, LimitHit, SessionId, Signal};
use runward_sandbox::{Broker, Enclosure, Entrance};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, Mode, OFlags};

use crate::channel::Channel;
use crate::clone::{self, Bounds, Failure, Stack};
use crate::proxy_listener::ProxyListener;
use crate::reap::Ended;
use crate::rlimits;
use crate::serve::{self, Sessions, send_to_group};
use crate::signals::ChildSignal;
use crate::sockets::Sockets;

/// How often it is looked at what listens on the host while a command runs.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Its life, which ends with its socket. Called in a fresh fork, the first process of its PID namespace.
pub(crate) fn live(fence: &Fence, entrance: &Entrance, socket: OwnedFd) -> io::Result<()> {
    let mut channel = Channel::new(socket);
    let children = ChildSignal::take_over()?;
    let (built, mut broker) = match Enclosure::build(fence, entrance) {
        Ok((enclosure, broker)) => (Ok(enclosure), broker),
        Err(error) => (Err(error), None),
    };
    let mut stack = Stack::new();
    while let Some((session, launch, mut fds)) = next_spawn(&mut channel)? {
        let enclosure = match &built {
            Ok(enclosure) => enclosure,
            Err(error) => {
                let Failure { step, errno } = Failure::of(Step::Confine, error);
                channel.report(&Report::Failed { session, step, errno });
                return Ok(());
            }
        };
        if let Some(broker) = &mut broker {
            broker.begin();
        }
        let sockets = if launch.is_reached() { fds.pop().map(Sockets::new) } else { None };
        let started = start(enclosure, &launch, fds, &mut stack);
        let begun = (started, sockets);
        let mut command = SandboxedCommand::begin(session, enclosure, begun, broker.as_mut(), &channel);
        drop(launch);
        serve::serve(&mut channel, &children, &mut command)?;
        if !command.finished {
            return Ok(());
        }
        enclosure.clean()?;
        let (containment, abilities) = (Containment::Namespace, Abilities::default());
        channel.report(&Report::Ready { containment, cgroup: None, abilities });
    }
    Ok(())
}

/// Waits for the next command; `None` when there will be none.
fn next_spawn(channel: &mut Channel) -> io::Result<Option<(SessionId, Launch, Vec<OwnedFd>)>> {
    loop {
        while let Some((order, fds)) = channel.next()? {
            if let Order::Spawn { session, launch } = order {
                return Ok(Some((session, launch, fds)));
            }
        }
        match poll(&mut [PollFd::new(channel, PollFlags::IN)], None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if !channel.fill()? {
            return Ok(None);
        }
    }
}

/// The number of a command's first process, and its way to the network.
type Begun = Result<(i32, Option<ProxyListener>), Failure>;

/// The one command in a sandbox: every process of the namespace but the first is its own.
struct SandboxedCommand<'a> {
    session: SessionId,
    /// Who makes files for it.
    broker: Option<&'a mut Broker>,
    enclosure: &'a Enclosure,
    /// When it was looked at last what listens on the host.
    looked: Instant,
    first: Option<i32>,
    exited: Option<Report>,
    /// How many processes have been killed, once they are.
    closing: Option<u32>,
    finished: bool,
    /// Its way to the network, where it has one.
    proxy: Option<ProxyListener>,
    /// What the server reaches it by, where it may.
    sockets: Option<Sockets>,
}

impl<'a> SandboxedCommand<'a> {
    fn begin(
        session: SessionId,
        enclosure: &'a Enclosure,
        (started, sockets): (Begun, Option<Sockets>),
        mut broker: Option<&'a mut Broker>,
        channel: &Channel,
    ) -> Self {
        if let Some(broker) = &mut broker {
            broker.listen();
        }
        let finished = started.is_err();
        let (started, proxy) = match started {
            Ok((pid, proxy)) => (Ok(pid), proxy),
            Err(failure) => (Err(failure), None),
        };
        let first = started.ok();
        let (looked, exited, closing) = (Instant::now(), None, None);
        let command = SandboxedCommand {
            session,
            broker,
            enclosure,
            looked,
            first,
            exited,
            closing,
            finished,
            proxy,
            sockets,
        };
        channel.report(&match started {
            Ok(pid) => Report::Started { session, pid },
            Err(Failure { step, errno }) => Report::Failed { session, step, errno },
        });
        command
    }

    /// All its processes are gone: what it made is published or held back, and the latter is told.
    fn finish(&mut self, channel: &Channel) {
        let held = self.broker.as_mut().map_or_else(Vec::new, |broker| broker.finish());
        if !held.is_empty() {
            channel.report(&Report::Held { session: self.session, paths: held });
        }
    }

    /// Every process of the namespace but this one.
    fn send_to_all(&self, signal: Signal) {
        if self.first.is_some() || self.closing.is_some() {
            // SAFETY: sends signals; from the first process of a namespace they reach no process outside.
            unsafe {
                libc::kill(-1, signal.0);
                libc::kill(-1, libc::SIGCONT);
            }
        }
    }
}

fn start(enclosure: &Enclosure, launch: &Launch, mut fds: Vec<OwnedFd>, stack: &mut Stack) -> Begun {
    let parts = launch.parts().map_err(|_| Failure { step: Step::Exec, errno: libc::EINVAL })?;
    let fence = launch.fence().ok_or(Failure { step: Step::Confine, errno: libc::EINVAL })?;
    let confined = |error: io::Error| Failure::of(Step::Confine, &error);
    enclosure.look_again();
    enclosure.cover_new_services().map_err(confined)?;
    let channel = if launch.has_proxy() { fds.pop() } else { None };
    let proxy = channel
        .as_ref()
        .map(|channel| ProxyListener::open(channel, fence.proxy_port))
        .transpose()
        .map_err(confined)?;
    if let [cwd, stdin, ..] = fds.as_mut_slice() {
        *cwd = same_directory(cwd, fence, enclosure).map_err(|error| Failure::of(Step::Cwd, &error))?;
        if is_null(stdin) {
            *stdin = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                .map_err(|error| Failure::of(Step::Stdio, &error.into()))?;
        }
        if parts.on_terminal {
            enclosure.admit_terminal(stdin).map_err(confined)?;
        }
    }
    // A text in sealed memory lies nowhere and stays what it is.
    let executed = parts.opened != Some(Opened::Read);
    if let Some(program) = fds.get_mut(SpawnFd::Program as usize).filter(|_| executed) {
        *program = same_program(program, parts.program).map_err(|error| Failure::of(Step::Exec, &error))?;
    }
    let restrictions = Some(enclosure.restrictions());
    let bounds = Bounds { limits: *launch.limits(), restrictions, ..Bounds::default() };
    Ok((clone::spawn(&parts, &fds, &bounds, stack)?, proxy))
}

/// Whether a command that failed has left no room among its private temporary files.
fn full(ending: Ending) -> Option<LimitHit> {
    /// Less than this is no room.
    const ROOM: u64 = 1 << 20;
    // They are all in one file system, wherever it is seen.
    let is_full = |place: &str| {
        rustix::fs::statvfs(place).is_ok_and(|found| found.f_bavail.saturating_mul(found.f_frsize) < ROOM)
    };
    let failed = ending != Ending::Exited(0);
    (failed && ["/dev/shm", "/tmp"].into_iter().any(is_full)).then_some(LimitHit::TemporaryFiles)
}

/// Whether it is the device that is always empty. The host's own could be changed by whoever has it open.
fn is_null(stdin: &OwnedFd) -> bool {
    let null = |found: rustix::fs::Stat| {
        let (major, minor) = (rustix::fs::major(found.st_rdev), rustix::fs::minor(found.st_rdev));
        FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice && (major, minor) == (1, 3)
    };
    rustix::fs::fstat(stdin).is_ok_and(null)
}

/// The program as it is seen in here, once it is sure to be the same: through what was passed it could be changed.
fn same_program(passed: &OwnedFd, path: &[u8]) -> io::Result<OwnedFd> {
    let path = CStr::from_bytes_with_nul(path).map_err(|_| io::ErrorKind::InvalidInput)?;
    let own = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    // One that may be executed and not read.
    let own = own.or_else(|_| rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()))?;
    is_same(passed, &own).then_some(own).ok_or_else(|| io::Error::from_raw_os_error(libc::ESTALE))
}

fn is_same(passed: &OwnedFd, own: &OwnedFd) -> bool {
    FileId::of_open(passed).is_ok_and(|there| FileId::of_open(own).is_ok_and(|here| here == there))
}

/// The directory as it is seen in here. What was passed lies in the host's mounts, from which there is a way out.
fn same_directory(passed: &OwnedFd, fence: &Fence, enclosure: &Enclosure) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let own = rustix::fs::open(fence.directory.as_c_str(), flags, Mode::empty())?;
    let is_it = is_same(passed, &own) || {
        let (there, here) = (FileId::of_open(passed)?, FileId::of_open(&own)?);
        enclosure.stands_for(there, here)
    };
    is_it.then_some(own).ok_or_else(|| io::Error::from_raw_os_error(libc::ESTALE))
}

impl Sessions for SandboxedCommand<'_> {
    fn spawn(
        &mut self,
        _: SessionId,
        _: Launch,
        _: Vec<OwnedFd>,
        _: &Channel,
    ) -> Result<Option<i32>, Failure> {
        Err(Failure { step: Step::Clone, errno: libc::EBUSY })
    }

    fn signal(&mut self, _session: SessionId, signal: Signal) {
        self.send_to_all(signal);
    }

    fn signal_group(&mut self, _session: SessionId, signal: Signal) {
        if let Some(leader) = self.first {
            send_to_group(leader, signal);
        }
    }

    fn close(&mut self, _session: SessionId, _channel: &Channel) {
        self.closing.get_or_insert(0);
        self.send_to_all(Signal::KILL);
    }

    fn child_ended(&mut self, ended: &Ended, _channel: &Channel) {
        if self.first == Some(ended.pid) {
            self.first = None;
            let (session, ending, usage) = (self.session, ended.ending, ended.usage);
            let hit = rlimits::hit(ending).or_else(|| full(ending));
            self.exited = Some(Report::Exited { session, ending, usage, hit, alone: false });
        } else if let Some(killed) = &mut self.closing {
            *killed += 1;
        }
    }

    fn settled(&mut self, alive: bool, channel: &Channel) {
        self.sockets = self.sockets.take().filter(Sockets::answer);
        if self.looked.elapsed() >= LOOK_AGAIN {
            self.looked = Instant::now();
            let _ = self.enclosure.cover_new_services();
        }
        if let Some(broker) = &mut self.broker {
            broker.serve();
        }
        if !alive && self.exited.is_some() && self.closing.is_none() {
            self.finish(channel);
        }
        if let Some(Report::Exited { session, ending, usage, hit, .. }) = self.exited.take() {
            let alone = !alive && self.closing.is_none();
            if alone {
                self.proxy = None;
            }
            channel.report(&Report::Exited { session, ending, usage, hit, alone });
            self.finished = alone;
        }
        if self.first.is_some() || self.finished {
            return;
        }
        if alive {
            if self.closing.is_some() {
                self.send_to_all(Signal::KILL);
            }
            return;
        }
        let ended = self.closing.unwrap_or(0);
        self.finish(channel);
        // Whoever hears of the end may give the port to another command.
        self.proxy = None;
        channel.report(&Report::Closed { session: self.session, ended, survivors: Vec::new() });
        self.finished = true;
    }

    fn alarm(&self) -> Option<Duration> {
        Some(LOOK_AGAIN)
    }

    fn watched(&self) -> Vec<PollFd<'_>> {
        let listener = self.broker.as_ref().and_then(|broker| broker.watched());
        let listener = listener.into_iter().chain(self.sockets.iter().map(Sockets::channel));
        listener.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect()
    }

    fn is_closing(&self) -> bool {
        self.closing.is_some()
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}
