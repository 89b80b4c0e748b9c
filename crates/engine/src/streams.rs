//! What a session prints goes into its log; what it is given goes into its input.

use std::io::Read as _;

use runward_model::{Stdio, Stream};
use runward_process::{Child, Input, Output};
use runward_spool::Record;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::call_record::CallRecorder;
use crate::log::EventLog;
use crate::redact::RedactingSink;
use crate::typing::{Typed, Typing};

/// What is read from an output at once, at first.
const USUAL_READ: usize = 64 * 1024;

/// What is read at once from an output that fills the usual buffer.
const LARGE_READ: usize = 256 * 1024;

/// The three descriptors of a session. An output is gone once it is at its end.
pub(crate) struct Streams {
    stdout: Lane,
    stderr: Lane,
    stdin: Option<Feed>,
    sink: RedactingSink,
}

struct Lane {
    output: Option<Output>,
    buffer: Vec<u8>,
    /// Whether a slow reader has held it back since that was last asked.
    held: bool,
}

/// Input that is still to be written.
struct Feed {
    input: Input,
    source: Source,
    block: Vec<u8>,
    written: usize,
    /// The last byte that was written; a line's end as long as there is none.
    last: u8,
    /// The room that the block takes among what waits.
    room: Option<OwnedSemaphorePermit>,
}

/// Where a session's input comes from.
pub(crate) enum Source {
    /// It was there before the session.
    Record(Record),
    /// Somebody writes it meanwhile.
    Typed(mpsc::UnboundedReceiver<Typed>),
}

impl Streams {
    pub(crate) fn take(child: &mut Child, source: Option<Source>, sink: RedactingSink) -> Self {
        let stdin = child.stdin.take().zip(source).map(|(input, source)| Feed {
            input,
            source,
            block: Vec::new(),
            written: 0,
            last: b'\n',
            room: None,
        });
        let (stdout, stderr) = (Lane::new(child.stdout.take()), Lane::new(child.stderr.take()));
        Streams { stdout, stderr, stdin, sink }
    }

    /// Whether both outputs are at their end.
    pub(crate) fn are_over(&self) -> bool {
        self.stdout.output.is_none() && self.stderr.output.is_none()
    }

    /// Whether a slow reader has held an output back since this was last asked.
    pub(crate) fn were_held(&mut self) -> bool {
        let held = [&mut self.stdout, &mut self.stderr].map(|lane| std::mem::take(&mut lane.held));
        held.contains(&true)
    }

    /// The outputs that are not at their end.
    pub(crate) fn open(&self) -> impl Iterator<Item = Stream> {
        let lanes = [(Stream::Stdout, &self.stdout), (Stream::Stderr, &self.stderr)];
        lanes.into_iter().filter(|(_, lane)| lane.output.is_some()).map(|(stream, _)| stream)
    }

    /// Lets what was left behind go on printing to nobody, until it no longer does.
    pub(crate) async fn discard(mut self) {
        while !self.are_over() {
            tokio::select! {
                _ = self.stdout.read(self.sink.log()) => {}
                _ = self.stderr.read(self.sink.log()) => {}
            }
        }
    }

    /// Carries bytes until an output is at its end, and says which; waits for ever once both are.
    pub(crate) async fn carry(&mut self) -> Stream {
        loop {
            tokio::select! {
                read = self.stdout.read(self.sink.log()) => match read {
                    Some(bytes) => self.sink.append(Stream::Stdout, bytes),
                    None => return self.ended(Stream::Stdout),
                },
                read = self.stderr.read(self.sink.log()) => match read {
                    Some(bytes) => self.sink.append(Stream::Stderr, bytes),
                    None => return self.ended(Stream::Stderr),
                },
                () = feed(&mut self.stdin) => self.stdin = None,
            }
        }
    }

    fn ended(&mut self, stream: Stream) -> Stream {
        self.sink.end(stream);
        stream
    }
}

impl Lane {
    fn new(output: Option<Output>) -> Self {
        Lane { output, buffer: Vec::new(), held: false }
    }

    /// What was printed, or `None` at the end, once. Nothing is read while a reader that may miss nothing is behind:
    /// the pipe fills, and the command waits.
    async fn read(&mut self, log: &EventLog) -> Option<&[u8]> {
        let Some(output) = &mut self.output else { return std::future::pending().await };
        while let Some(reader) = log.slow_reader() {
            self.held = true;
            reader.has_room().await;
        }
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
    match stdin {
        Some(feed) => while feed.write().await {},
        None => std::future::pending().await,
    }
}

impl Feed {
    /// Writes some; whether there may be more. May be dropped and called again.
    async fn write(&mut self) -> bool {
        if self.written == self.block.len() {
            self.room = None;
            self.last = self.block.last().copied().unwrap_or(self.last);
            (self.block, self.written) = (Vec::new(), 0);
            match self.source.next().await {
                Next::Block(block, room) => (self.block, self.room) = (block, room),
                Next::End => match self.input.end_mark(self.last) {
                    Some(marks) => self.block = marks,
                    None => return false,
                },
                Next::Gone => return false,
            }
        }
        let rest = self.block.get(self.written..).unwrap_or_default();
        match self.input.write(rest).await {
            Ok(count) => self.written += count,
            // The child has closed its input: what it did not want is not written.
            Err(_) => return false,
        }
        true
    }
}

/// The writing and the reading end of a session's input, where it has them. What is typed into it is recorded first,
/// where there is somebody to do that.
pub(crate) fn input_ends(
    input: Option<Record>,
    stdio: &Stdio,
    recorder: Option<CallRecorder>,
) -> (Option<Typing>, Option<Source>) {
    match (input, stdio) {
        (Some(record), _) => (None, Some(Source::Record(record))),
        (None, Stdio::Open | Stdio::Terminal(_)) => {
            let (typing, typed) = Typing::new();
            let typing = match recorder {
                Some(recorder) => typing.recorded_by(recorder),
                None => typing,
            };
            (Some(typing), Some(Source::Typed(typed)))
        }
        (None, Stdio::Pipes | Stdio::Given(_)) => (None, None),
    }
}

/// What a source has next.
enum Next {
    /// Bytes, never none, and the room that they take among what waits.
    Block(Vec<u8>, Option<OwnedSemaphorePermit>),
    /// The end of the input.
    End,
    /// Nobody can write any more.
    Gone,
}

impl Source {
    async fn next(&mut self) -> Next {
        match self {
            Source::Record(record) => match next_block(record) {
                block if block.is_empty() => Next::End,
                block => Next::Block(block, None),
            },
            Source::Typed(typed) => loop {
                match typed.recv().await {
                    Some(Typed::Bytes(bytes, _)) if bytes.is_empty() => {}
                    Some(Typed::Bytes(bytes, room)) => return Next::Block(bytes, Some(room)),
                    Some(Typed::End) => return Next::End,
                    None => return Next::Gone,
                }
            },
        }
    }
}

/// What is written next; empty at the end, and when the rest was removed from the disk meanwhile.
fn next_block(input: &mut Record) -> Vec<u8> {
    let mut block = Vec::new();
    let _ = input.take(USUAL_READ as u64).read_to_end(&mut block);
    block
}
