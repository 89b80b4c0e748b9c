//! A session as the server sees it.

use std::io;
use std::time::{Duration, Instant};

use runward_model::wire::{Order, Report};
use runward_model::{Containment, SessionId, Signal};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::mpsc;

use crate::link::Orders;
use crate::pipes;

/// What a child's standard input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// At its end from the beginning.
    Empty,
    /// A pipe that the server writes.
    Piped,
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
    /// Its descriptor 1, until somebody takes it.
    pub stdout: Option<Output>,
    /// Its descriptor 2, until somebody takes it.
    pub stderr: Option<Output>,
    /// Its descriptor 0, if that is a pipe. Dropping it is the end of the input.
    pub stdin: Option<Sender>,
    /// What becomes of it.
    pub reports: Reports,
    pub(crate) orders: Orders,
}

impl Child {
    /// Sends a signal to every process of the session.
    pub fn signal(&self, signal: Signal) {
        self.orders.send(Order::Signal { session: self.session, signal });
    }

    /// Kills what is left of the session; a last report follows.
    pub fn close(&self) {
        self.orders.send(Order::Close { session: self.session });
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
    queue: mpsc::UnboundedReceiver<Report>,
    /// Whether the last one has been told.
    over: bool,
}

impl Reports {
    pub(crate) fn new(queue: mpsc::UnboundedReceiver<Report>) -> Self {
        Reports { queue, over: false }
    }

    /// The next report if it comes within a moment that is shorter than going to sleep and waking up again.
    pub async fn soon(&mut self) -> Option<Report> {
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

    /// The next report; waits for ever after the last one. Should the runner be killed, a lost ending is made up.
    pub async fn next(&mut self) -> Report {
        let Some(report) = self.queue.recv().await else { return std::future::pending().await };
        self.over |= report.is_last();
        report
    }
}

/// One output of a child.
#[derive(Debug)]
pub struct Output {
    pipe: Receiver,
    grown: bool,
}

impl Output {
    pub(crate) fn new(pipe: Receiver) -> Self {
        Output { pipe, grown: false }
    }

    /// Waits until there is something to read, or the end. So a reader needs no buffer before there is a use for it.
    pub async fn ready(&self) {
        let _ = self.pipe.readable().await;
    }

    /// Reads once, as much as there is room for; 0 at the end. A pipe that fills the whole buffer is made larger.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        /// What a pipe holds before it is made larger.
        const USUAL: usize = 64 * 1024;
        loop {
            self.pipe.readable().await?;
            match self.pipe.try_read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(read) => {
                    if read >= USUAL && !self.grown {
                        self.grown = true;
                        pipes::grow(&self.pipe);
                    }
                    return Ok(read);
                }
                Err(error) => return Err(error),
            }
        }
    }
}
