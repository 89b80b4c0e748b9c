//! A session as the server sees it.

use std::ffi::CString;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use runward_model::wire::{Order, Report};
use runward_model::{Containment, Ending, SessionId, Signal, Usage};
use tokio::net::unix::pipe::Receiver;
use tokio::sync::mpsc;

use crate::link::Orders;
use crate::relay::Frames;
use crate::{Input, Loopback, Terminal, pipes};

/// Where what is asked of a child goes.
#[derive(Clone, Debug)]
pub(crate) enum Commands {
    /// To the runner of this host.
    Runner(Orders),
    /// To whoever speaks with the machine that runs it.
    Relay(mpsc::UnboundedSender<Order>),
}

impl Commands {
    /// Should whoever would obey be gone, so is what the order is about.
    fn send(&self, order: &Order) {
        match self {
            Commands::Runner(orders) => orders.send(order),
            Commands::Relay(queue) => drop(queue.send(order.clone())),
        }
    }
}

/// A session that has started.
#[derive(Debug)]
pub struct Child {
    /// Its id.
    pub session: SessionId,
    /// Its first process.
    pub pid: i32,
    /// What holds its tree together.
    pub containment: Containment,
    /// What it runs on, if that is a terminal: then its descriptor 2 is no output of its own.
    pub terminal: Option<Arc<Terminal>>,
    /// Its descriptor 1, until somebody takes it.
    pub stdout: Option<Output>,
    /// Its descriptor 2, until somebody takes it.
    pub stderr: Option<Output>,
    /// Its descriptor 0, if the server writes it.
    pub stdin: Option<Input>,
    /// Where its proxy listens, if it has one, until somebody takes it.
    pub proxy_listener: Option<TcpListener>,
    /// Where what it serves is reached.
    pub loopback: Loopback,
    /// What becomes of it.
    pub reports: Reports,
    pub(crate) orders: Commands,
}

impl Child {
    /// Sends a signal to every process of the session.
    pub fn signal(&self, signal: Signal) {
        self.orders.send(&Order::Signal { session: self.session, signal });
    }

    /// Has the runner look what it waits for, before anything that is ordered later; a report tells.
    pub fn probe(&self) {
        self.orders.send(&Order::Probe { session: self.session });
    }

    /// What has the runner look at it.
    pub fn looking(&self) -> Looking {
        Looking { session: self.session, orders: self.orders.clone() }
    }

    /// What a keyboard does to it.
    pub fn keyboard(&self) -> Keyboard {
        Keyboard { session: self.session, terminal: self.terminal.clone(), orders: self.orders.clone() }
    }

    /// From now on letting go of it ends nothing: what is left of it lives as long as the runner does.
    pub fn release(&mut self) {
        self.reports.over = true;
    }

    /// Kills what is left of the session; a last report follows.
    pub fn close(&self) {
        self.orders.send(&Order::Close { session: self.session });
    }
}

/// Has the runner look at a session.
#[derive(Debug)]
pub struct Looking {
    session: SessionId,
    orders: Commands,
}

impl Looking {
    /// What there is of it, and whether a file is there; a report tells.
    pub fn look(&self, file: Option<CString>) {
        self.orders.send(&Order::Look { session: self.session, file });
    }
}

/// What a keyboard does to a session.
#[derive(Debug)]
pub struct Keyboard {
    session: SessionId,
    terminal: Option<Arc<Terminal>>,
    orders: Commands,
}

impl Keyboard {
    /// Sends a signal as a terminal would: to its foreground, or else to the group of the first process.
    pub fn signal(&self, signal: Signal) {
        let is_sent = self.terminal.as_ref().is_some_and(|terminal| terminal.signal(signal).is_ok());
        if !is_sent {
            self.orders.send(&Order::SignalGroup { session: self.session, signal });
        }
    }
}

impl Drop for Child {
    /// Whoever lets go of a session ends it.
    fn drop(&mut self) {
        if !self.reports.over {
            self.close();
        }
    }
}

/// What becomes of a session, told by the runner.
#[derive(Debug)]
pub struct Reports {
    session: SessionId,
    queue: mpsc::UnboundedReceiver<Report>,
    /// Whether the last one has been told.
    over: bool,
}

impl Reports {
    pub(crate) fn new(session: SessionId, queue: mpsc::UnboundedReceiver<Report>) -> Self {
        Reports { session, queue, over: false }
    }

    /// The next report if it comes within a moment that is shorter than going to sleep and waking up again.
    pub async fn try_next_for_a_moment(&mut self) -> Option<Report> {
        const MOMENT: Duration = Duration::from_micros(80);
        let start = Instant::now();
        loop {
            if let Ok(report) = self.queue.try_recv() {
                self.over |= report.is_last();
                return Some(report);
            }
            if start.elapsed() > MOMENT {
                return None;
            }
            tokio::task::yield_now().await;
        }
    }

    /// The next report; waits for ever after the last one. Should whoever runs it be gone, a lost ending is made up.
    pub async fn next(&mut self) -> Report {
        let report = match self.queue.recv().await {
            Some(report) => report,
            None if self.over => return std::future::pending().await,
            None => self.lost(),
        };
        self.over |= report.is_last();
        report
    }

    fn lost(&self) -> Report {
        let (session, ending, usage) = (self.session, Ending::Lost, Usage::default());
        Report::Exited { session, ending, usage, hit: None, alone: true }
    }
}

/// One output of a child.
#[derive(Debug)]
pub enum Output {
    /// A pipe, and whether it has been made larger.
    Pipe(Receiver, bool),
    /// A terminal.
    Terminal(Arc<Terminal>),
    /// Frames from elsewhere.
    Frames(Frames),
}

impl Output {
    pub(crate) fn piped(pipe: Receiver) -> Self {
        Output::Pipe(pipe, false)
    }

    /// Waits until there is something to read, or the end. So a reader needs no buffer before there is a use for it.
    pub async fn ready(&mut self) {
        match self {
            Output::Frames(frames) => frames.ready().await,
            Output::Pipe(pipe, _) => drop(pipe.readable().await),
            Output::Terminal(terminal) => terminal.ready().await,
        }
    }

    /// Reads once, as much as there is room for; 0 at the end. A pipe that fills the whole buffer is made larger.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Output::Pipe(pipe, grown) => read_pipe(pipe, grown, buffer).await,
            Output::Terminal(terminal) => terminal.read(buffer).await,
            Output::Frames(frames) => Ok(frames.read(buffer).await),
        }
    }
}

async fn read_pipe(pipe: &Receiver, grown: &mut bool, buffer: &mut [u8]) -> io::Result<usize> {
    /// What a pipe holds before it is made larger.
    const USUAL: usize = 64 * 1024;
    loop {
        pipe.readable().await?;
        match pipe.try_read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(read) => {
                if read >= USUAL && !*grown {
                    *grown = true;
                    pipes::grow(pipe);
                }
                return Ok(read);
            }
            Err(error) => return Err(error),
        }
    }
}
