//! What a child reads.

use std::io;
use std::sync::Arc;

use tokio::net::unix::pipe::Sender;
use tokio::sync::mpsc;

use crate::{Terminal, relay};

/// What a child's three descriptors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdio {
    /// Pipes, and an input that is at its end from the beginning.
    Pipes,
    /// Pipes, and one for the input that the server writes.
    Piped,
    /// One terminal.
    Terminal(runward_model::Size),
}

/// A child's descriptor 0 as the server writes it. Dropping a pipe is the end of the input.
#[derive(Debug)]
pub enum Input {
    /// A pipe.
    Pipe(Sender),
    /// A terminal.
    Terminal(Arc<Terminal>),
    /// Frames to elsewhere.
    Frames(mpsc::Sender<Vec<u8>>),
}

/// What a terminal takes for the end of its input at the beginning of a line; elsewhere it ends the line.
const END_OF_TRANSMISSION: u8 = 4;

impl Input {
    /// Writes once, as much as there is room for. May be dropped and called again.
    pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let Input::Pipe(pipe) = self else { return self.type_in(bytes).await };
        loop {
            pipe.writable().await?;
            match pipe.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return written,
            }
        }
    }

    async fn type_in(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Input::Terminal(terminal) => terminal.write(bytes).await,
            Input::Frames(queue) => relay::write(queue, bytes).await,
            Input::Pipe(_) => Ok(0),
        }
    }

    /// What has to be written for the end of the input, after this last byte, where closing it is not enough.
    pub fn end_mark(&self, last: u8) -> Option<Vec<u8>> {
        let marks = if matches!(last, b'\n' | b'\r' | END_OF_TRANSMISSION) { 1 } else { 2 };
        matches!(self, Input::Terminal(_)).then(|| vec![END_OF_TRANSMISSION; marks])
    }
}
