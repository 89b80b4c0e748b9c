//! The socket to the runner: orders out with their descriptors, reports in.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use runward_model::SessionId;
use runward_model::wire::{self, Launch, Order, Report, SPAWN_FDS, WireError};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::mpsc;

use crate::Error;

/// A frame and the descriptors that travel with its first byte.
#[derive(Debug)]
struct Frame {
    bytes: Vec<u8>,
    sent: usize,
    fds: Vec<OwnedFd>,
}

/// Where orders go. Cheap to copy; sending never waits.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    runner: Option<Pid>,
    queue: mpsc::UnboundedSender<Frame>,
    subscribers: Subscribers,
}

type Subscribers = Arc<Mutex<HashMap<SessionId, mpsc::UnboundedSender<Report>>>>;

impl Orders {
    /// Queues an order about a session. Should the runner be gone, so is what the order was about.
    pub(crate) fn send(&self, order: &Order) {
        match Frame::new(order, Vec::new()) {
            Ok(frame) => drop(self.queue.send(frame)),
            Err(error) => tracing::error!(%error, "an order does not fit the wire"),
        }
        self.resume_runner();
    }

    /// A command can stop the runner, which then obeys nobody.
    pub(crate) fn resume_runner(&self) {
        if let Some(runner) = self.runner {
            let _ = kill_process(runner, Signal::CONT);
        }
    }

    /// Queues a spawn, and subscribes to what becomes of it. An order that cannot be sent is refused here, to whoever
    /// gave it: nobody would answer it, and the runner would be taken for stuck.
    pub(crate) fn spawn(
        &self,
        session: SessionId,
        launch: Launch,
        fds: Vec<OwnedFd>,
    ) -> Result<mpsc::UnboundedReceiver<Report>, Error> {
        let frame = Frame::new(&Order::Spawn { session, launch }, fds)?;
        let (sender, receiver) = mpsc::unbounded_channel();
        lock(&self.subscribers).insert(session, sender);
        if self.queue.send(frame).is_err() {
            lock(&self.subscribers).remove(&session);
            return Err(Error::RunnerGone);
        }
        Ok(receiver)
    }

    /// Whether the runner is still there.
    pub(crate) fn is_open(&self) -> bool {
        !self.queue.is_closed()
    }
}

/// The task that owns the socket.
pub(crate) struct Link {
    socket: UnixStream,
    queue: mpsc::UnboundedReceiver<Frame>,
    subscribers: Subscribers,
    outgoing: VecDeque<Frame>,
    incoming: Vec<u8>,
}

/// A link over `socket`; its task runs in [`Link::run`].
pub(crate) fn link(socket: UnixStream, runner: Option<Pid>) -> (Orders, Link) {
    let (sender, queue) = mpsc::unbounded_channel();
    let subscribers = Subscribers::default();
    let orders = Orders { runner, queue: sender, subscribers: subscribers.clone() };
    let hello = Frame { bytes: wire::hello(), sent: 0, fds: Vec::new() };
    (orders, Link { socket, queue, subscribers, outgoing: [hello].into(), incoming: Vec::new() })
}

impl Link {
    /// Greets the runner and waits for its hello and its first report.
    pub(crate) async fn ready(&mut self) -> io::Result<Report> {
        self.write()?;
        while !wire::take_hello(&mut self.incoming).map_err(io::Error::other)? {
            self.socket.readable().await?;
            self.read()?;
        }
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
        // Each of them hears by that that its session is lost.
        lock(&self.subscribers).clear();
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
                    Some(frame) => self.outgoing.push_back(frame),
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
    fn new(order: &Order, fds: Vec<OwnedFd>) -> Result<Self, WireError> {
        Ok(Frame { bytes: wire::encode(order)?, sent: 0, fds })
    }

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
