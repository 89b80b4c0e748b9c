//! What is written to a session's input while it runs.
//!
//! A caller hands over what it writes and goes on; the session's task writes it when the command reads it. What waits
//! is bounded: each byte holds a permit until it is written.

use std::sync::Arc;

use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::call_record::CallRecorder;

/// How many bytes may wait for a command to read them.
const ROOM: usize = 1 << 20;

/// Something for a session's input.
#[derive(Debug)]
pub(crate) enum Typed {
    /// Bytes, and the room that they take until they are written.
    Bytes(Vec<u8>, OwnedSemaphorePermit),
    /// The end of the input.
    End,
}

/// The writing end of a session's input. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Typing {
    queue: mpsc::UnboundedSender<Typed>,
    room: Arc<Semaphore>,
}

/// Why something was not written to a session.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotTaken {
    /// It never had an input.
    #[error("stdin is closed for this session; start it with tty=true or stdin=\"pipe\" to keep stdin open")]
    NoInput,
    /// Its input was closed, by either side, or it has ended.
    #[error("stdin of this session is closed; nothing was written")]
    Closed,
    /// Its terminal would drop a part.
    #[error(
        "a line of {length} bytes is longer than the {most} that a terminal takes; nothing was written, send shorter lines or start the command with stdin=\"pipe\" instead of tty"
    )]
    LongLine {
        /// How long the longest line is.
        length: usize,
        /// How long a line may be.
        most: usize,
    },
    /// Some of what comes before it never came.
    #[error("at is {at} and only {written} bytes came before; send those first")]
    Missing {
        /// How many bytes its sender believes came before it.
        at: u64,
        /// How many did.
        written: u64,
    },
    /// The command reads too slowly.
    #[error("much of what was written before still waits to be read; nothing was written, try again later")]
    Full,
}

impl Typing {
    /// Both ends of an input.
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Typed>) {
        let (queue, typed) = mpsc::unbounded_channel();
        (Typing { queue, room: Arc::new(Semaphore::new(ROOM)) }, typed)
    }

    /// The same where nothing reaches the command that was not recorded first. It ends with the session's own end.
    pub(crate) fn recorded_by(self, recorder: CallRecorder) -> Self {
        let Typing { queue: session, room } = self;
        let (queue, mut typed) = mpsc::unbounded_channel();
        let tasks = recorder.clone();
        tasks.spawn(async move {
            loop {
                let next = tokio::select! {
                    () = session.closed() => return,
                    next = typed.recv() => next,
                };
                let Some(next) = next else { return };
                if let Typed::Bytes(bytes, _) = &next
                    && let Err(refusal) = recorder.typed(bytes).await
                {
                    tracing::error!(%refusal, "what was typed could not be recorded; the input is closed");
                    return;
                }
                if session.send(next).is_err() {
                    return;
                }
            }
        });
        Typing { queue, room }
    }

    /// Hands over bytes, all of them or none.
    pub(crate) fn write(&self, bytes: Vec<u8>) -> Result<(), NotTaken> {
        let permit = self.room.clone().try_acquire_many_owned(size(&bytes)).map_err(|_| NotTaken::Full)?;
        self.send(Typed::Bytes(bytes, permit))
    }

    /// The same, once there is room.
    pub(crate) async fn write_in_time(&self, bytes: Vec<u8>) -> Result<(), NotTaken> {
        match self.room.clone().acquire_many_owned(size(&bytes)).await {
            Ok(permit) => self.send(Typed::Bytes(bytes, permit)),
            Err(_) => Err(NotTaken::Closed),
        }
    }

    /// Ends the input after what was written before.
    pub(crate) fn end(&self) -> Result<(), NotTaken> {
        self.send(Typed::End)
    }

    /// How many bytes still wait to be read.
    pub(crate) fn waiting(&self) -> usize {
        ROOM - self.room.available_permits().min(ROOM)
    }

    /// Whether nobody takes anything any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.queue.is_closed()
    }

    fn send(&self, typed: Typed) -> Result<(), NotTaken> {
        self.queue.send(typed).map_err(|_| NotTaken::Closed)
    }
}

/// The room that bytes take; more than there is counts as all of it.
fn size(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len().min(ROOM)).unwrap_or(u32::MAX)
}
