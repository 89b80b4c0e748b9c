//! Children that another machine runs, or that a test plays: frames in place of descriptors.

use std::io;

use runward_model::wire::{Order, Report};
use runward_model::{Containment, SessionId};
use tokio::sync::mpsc;

use crate::child::Commands;
use crate::{Child, Input, Loopback, Output, Reports};

/// How many frames of an output wait for their reader; then whoever sends them waits.
const FRAMES: usize = 64;

/// The other side of a child: what its machine says of it goes in here, what is asked of it comes out. Dropping
/// `reports` before the last one means that the machine is lost.
#[derive(Debug)]
pub struct Relay {
    /// What becomes of it.
    pub reports: mpsc::UnboundedSender<Report>,
    /// What is asked of it.
    pub orders: mpsc::UnboundedReceiver<Order>,
    /// Its descriptor 1; dropping it is the end.
    pub stdout: mpsc::Sender<Vec<u8>>,
    /// Its descriptor 2.
    pub stderr: mpsc::Sender<Vec<u8>>,
    /// Its descriptor 0. It is at its end when there is nothing more.
    pub stdin: mpsc::Receiver<Vec<u8>>,
}

impl Child {
    /// A child that has started somewhere else.
    pub fn relayed(session: SessionId, pid: i32, containment: Containment) -> (Self, Relay) {
        let ((stdout, out), (stderr, err)) = (mpsc::channel(FRAMES), mpsc::channel(FRAMES));
        let ((input, stdin), (reports, queue)) = (mpsc::channel(1), mpsc::unbounded_channel());
        let (sender, orders) = mpsc::unbounded_channel();
        let child = Child {
            session,
            pid,
            containment,
            terminal: None,
            stdout: Some(Output::Frames(Frames::new(out))),
            stderr: Some(Output::Frames(Frames::new(err))),
            stdin: Some(Input::Frames(input)),
            proxy_listener: None,
            loopback: Loopback::Host,
            reports: Reports::new(session, queue),
            orders: Commands::Relay(sender),
        };
        (child, Relay { reports, orders, stdout, stderr, stdin })
    }
}

/// One output that arrives in frames.
#[derive(Debug)]
pub struct Frames {
    queue: mpsc::Receiver<Vec<u8>>,
    frame: Vec<u8>,
    read: usize,
}

impl Frames {
    fn new(queue: mpsc::Receiver<Vec<u8>>) -> Self {
        Frames { queue, frame: Vec::new(), read: 0 }
    }

    /// Waits until there is something to read, or the end.
    pub(crate) async fn ready(&mut self) {
        while self.read == self.frame.len() {
            let Some(frame) = self.queue.recv().await else { return };
            (self.frame, self.read) = (frame, 0);
        }
    }

    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> usize {
        self.ready().await;
        let rest = self.frame.get(self.read..).unwrap_or_default();
        let bytes = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..bytes), rest.get(..bytes)) {
            to.copy_from_slice(from);
        }
        self.read += bytes;
        bytes
    }
}

/// Hands over a frame once there is room for it.
pub(crate) async fn write(queue: &mpsc::Sender<Vec<u8>>, bytes: &[u8]) -> io::Result<usize> {
    let room = queue.reserve().await.map_err(|_| io::ErrorKind::BrokenPipe)?;
    room.send(bytes.to_vec());
    Ok(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_are_read_whole_whatever_the_buffer_holds() {
        let (sender, queue) = mpsc::channel(4);
        for frame in [&b"abc"[..], b"", b"de"] {
            sender.send(frame.to_vec()).await.unwrap();
        }
        drop(sender);
        let (mut frames, mut buffer, mut read) = (Frames::new(queue), [0; 2], Vec::new());
        loop {
            match frames.read(&mut buffer).await {
                0 => break,
                bytes => read.extend_from_slice(&buffer[..bytes]),
            }
        }
        assert_eq!(read, b"abcde");
    }

    #[tokio::test]
    async fn a_machine_that_goes_away_leaves_a_lost_ending() {
        let (mut child, relay) = Child::relayed(SessionId(3), 7, Containment::Cgroup);
        drop(relay);
        let report = child.reports.next().await;
        assert!(matches!(report, Report::Exited { ending: runward_model::Ending::Lost, alone: true, .. }));
    }
}
