//! The socket to the runner: orders out with their descriptors, reports in.

use std::collections::{HashMap, VecDeque};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use runward_model::wire::{self, Order, Report, SPAWN_FDS};
use runward_model::{Ending, SessionId, Usage};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::mpsc;

/// A frame and the descriptors that travel with its first byte.
struct Frame {
    bytes: Vec<u8>,
    sent: usize,
    fds: Vec<OwnedFd>,
}

/// Where orders go. Cheap to copy; sending never waits.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    runner: Option<Pid>,
    queue: mpsc::UnboundedSender<(Order, Vec<OwnedFd>)>,
    subscribers: Subscribers,
}

type Subscribers = Arc<Mutex<HashMap<SessionId, mpsc::UnboundedSender<Report>>>>;

impl Orders {
    /// Queues an order. Should the runner be gone, so is what the order was about.
    pub(crate) fn send(&self, order: Order) {
        let _ = self.queue.send((order, Vec::new()));
        self.let_runner_go_on();
    }

    /// A command can stop the runner, which then obeys nobody.
    pub(crate) fn let_runner_go_on(&self) {
        if let Some(runner) = self.runner {
            let _ = kill_process(runner, Signal::CONT);
        }
    }

    /// Queues a spawn, and subscribes to what becomes of it; `None` when the runner is gone.
    pub(crate) fn spawn(
        &self,
        session: SessionId,
        order: Order,
        fds: Vec<OwnedFd>,
    ) -> Option<mpsc::UnboundedReceiver<Report>> {
        let (sender, receiver) = mpsc::unbounded_channel();
        lock(&self.subscribers).insert(session, sender);
        self.queue.send((order, fds)).ok()?;
        Some(receiver)
    }

    /// Whether the runner is still there.
    pub(crate) fn is_open(&self) -> bool {
        !self.queue.is_closed()
    }
}

/// The task that owns the socket.
pub(crate) struct Link {
    socket: UnixStream,
    queue: mpsc::UnboundedReceiver<(Order, Vec<OwnedFd>)>,
    subscribers: Subscribers,
    outgoing: VecDeque<Frame>,
    incoming: Vec<u8>,
}

/// A link over `socket`; its task runs in [`Link::run`].
pub(crate) fn link(socket: UnixStream, runner: Option<Pid>) -> (Orders, Link) {
    let (sender, queue) = mpsc::unbounded_channel();
    let subscribers = Subscribers::default();
    let orders = Orders { runner, queue: sender, subscribers: subscribers.clone() };
    (orders, Link { socket, queue, subscribers, outgoing: VecDeque::new(), incoming: Vec::new() })
}

impl Link {
    /// Waits for the runner's first report.
    pub(crate) async fn ready(&mut self) -> io::Result<Report> {
        loop {
            if let Some(report) = wire::decode(&mut self.incoming).map_err(io::Error::other)? {
                return Ok(report);
            }
            self.socket.readable().await?;
            self.read()?;
        }
    }

    /// Carries orders and reports until the runner or every [`Orders`] is gone.
    pub(crate) async fn run(mut self) {
        if let Err(error) = self.carry().await {
            tracing::error!(%error, "the runner is gone; what it ran has been ended");
        }
        self.queue.close();
        for (session, subscriber) in lock(&self.subscribers).drain() {
            let (ending, usage) = (Ending::Lost, Usage::default());
            let _ = subscriber.send(Report::Exited { session, ending, usage, hit: None, alone: true });
        }
    }

    async fn carry(&mut self) -> io::Result<()> {
        loop {
            let interest = if self.outgoing.is_empty() {
                Interest::READABLE
            } else {
                Interest::READABLE | Interest::WRITABLE
            };
            tokio::select! {
                order = self.queue.recv() => match order {
                    Some((order, fds)) => self.enqueue(&order, fds),
                    None => return self.hang_up().await,
                },
                ready = self.socket.ready(interest) => {
                    if ready?.is_readable() {
                        self.read()?;
                        self.deliver()?;
                    }
                }
            }
            self.write()?;
        }
    }

    /// Nobody has any more orders: the runner ends whatever is left, then itself.
    async fn hang_up(&mut self) -> io::Result<()> {
        rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Write)?;
        loop {
            self.socket.readable().await?;
            if self.read().is_err() {
                return Ok(());
            }
        }
    }

    fn enqueue(&mut self, order: &Order, fds: Vec<OwnedFd>) {
        match wire::encode(order) {
            Ok(bytes) => self.outgoing.push_back(Frame { bytes, sent: 0, fds }),
            Err(error) => tracing::error!(%error, "an order does not fit the wire"),
        }
    }

    /// Writes what the socket takes now.
    fn write(&mut self) -> io::Result<()> {
        while let Some(frame) = self.outgoing.front_mut() {
            match self.socket.try_io(Interest::WRITABLE, || frame.write(&self.socket)) {
                Ok(()) if frame.sent == frame.bytes.len() => {
                    self.outgoing.pop_front();
                }
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        let mut chunk = [0; 16 * 1024];
        match self.socket.try_read(&mut chunk) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                self.incoming.extend_from_slice(chunk.get(..read).unwrap_or_default());
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn deliver(&mut self) -> io::Result<()> {
        while let Some(report) = wire::decode::<Report>(&mut self.incoming).map_err(io::Error::other)? {
            let Some(session) = report.session() else { continue };
            let last = report.is_last();
            let mut subscribers = lock(&self.subscribers);
            if let Some(subscriber) = subscribers.get(&session) {
                let _ = subscriber.send(report);
            }
            if last {
                subscribers.remove(&session);
            }
        }
        Ok(())
    }
}

impl Frame {
    fn write(&mut self, socket: &UnixStream) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(SPAWN_FDS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let fds: Vec<_> = self.fds.iter().map(AsFd::as_fd).collect();
        if !fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(&fds)) {
            return Err(io::Error::other("descriptors do not fit one message"));
        }
        let rest = IoSlice::new(self.bytes.get(self.sent..).unwrap_or_default());
        self.sent += sendmsg(socket, &[rest], &mut ancillary, SendFlags::NOSIGNAL)?;
        self.fds.clear();
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
