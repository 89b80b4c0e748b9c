//! What a session prints goes into its log; what it is given goes into its input.

use std::io::Read as _;

use runward_model::Stream;
use runward_process::{Child, Output};
use runward_spool::Record;
use tokio::net::unix::pipe::Sender;

use crate::screen::Screen;

/// What is read from an output at once, at first.
const USUAL_READ: usize = 64 * 1024;

/// What is read at once from an output that fills the usual buffer.
const LARGE_READ: usize = 256 * 1024;

/// The three descriptors of a session. An output is gone once it is at its end.
pub(crate) struct Streams {
    stdout: Lane,
    stderr: Lane,
    stdin: Option<Feed>,
    screen: Screen,
}

struct Lane {
    output: Option<Output>,
    buffer: Vec<u8>,
}

/// Input that is still to be written.
struct Feed {
    pipe: Sender,
    input: Record,
    block: Vec<u8>,
    written: usize,
}

impl Streams {
    pub(crate) fn take(child: &mut Child, input: Option<Record>, screen: Screen) -> Self {
        let stdin = child.stdin.take().zip(input).map(|(pipe, input)| Feed {
            pipe,
            input,
            block: Vec::new(),
            written: 0,
        });
        let (stdout, stderr) = (Lane::new(child.stdout.take()), Lane::new(child.stderr.take()));
        Streams { stdout, stderr, stdin, screen }
    }

    /// Whether both outputs are at their end.
    pub(crate) fn are_over(&self) -> bool {
        self.stdout.output.is_none() && self.stderr.output.is_none()
    }

    /// Carries bytes until an output is at its end, and says which; waits for ever once both are.
    pub(crate) async fn carry(&mut self) -> Stream {
        loop {
            tokio::select! {
                read = self.stdout.read() => match read {
                    Some(bytes) => self.screen.append(Stream::Stdout, bytes),
                    None => return self.ended(Stream::Stdout),
                },
                read = self.stderr.read() => match read {
                    Some(bytes) => self.screen.append(Stream::Stderr, bytes),
                    None => return self.ended(Stream::Stderr),
                },
                () = feed(&mut self.stdin) => self.stdin = None,
            }
        }
    }

    fn ended(&mut self, stream: Stream) -> Stream {
        self.screen.end(stream);
        stream
    }
}

impl Lane {
    fn new(output: Option<Output>) -> Self {
        Lane { output, buffer: Vec::new() }
    }

    /// What was printed, or `None` at the end, once.
    async fn read(&mut self) -> Option<&[u8]> {
        let Some(output) = &mut self.output else { return std::future::pending().await };
        output.ready().await;
        if self.buffer.is_empty() {
            self.buffer.resize(USUAL_READ, 0);
        }
        let read = output.read(&mut self.buffer).await.unwrap_or(0);
        if read == 0 {
            self.output = None;
            self.buffer = Vec::new();
            return None;
        }
        if read == USUAL_READ {
            self.buffer.resize(LARGE_READ, 0);
        }
        self.buffer.get(..read)
    }
}

/// Writes the input until all of it is written or nobody reads it; waits for ever when there is none.
async fn feed(stdin: &mut Option<Feed>) {
    let Some(Feed { pipe, input, block, written }) = stdin else { return std::future::pending().await };
    loop {
        if *written == block.len() {
            (*block, *written) = (next_block(input), 0);
        }
        let Some(rest) = block.get(*written..).filter(|rest| !rest.is_empty()) else { return };
        if pipe.writable().await.is_err() {
            return;
        }
        match pipe.try_write(rest) {
            Ok(count) => *written += count,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            // The child has closed its input: what it did not want is not written.
            Err(_) => return,
        }
    }
}

/// What is written next; empty at the end, and when the rest was removed from the disk meanwhile.
fn next_block(input: &mut Record) -> Vec<u8> {
    let mut block = Vec::new();
    let _ = input.take(USUAL_READ as u64).read_to_end(&mut block);
    block
}
