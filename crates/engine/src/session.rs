//! A session as a door sees it.

use std::sync::Arc;

use runward_model::{Outcome, Receipt, SessionId, Signal, Size, StopReason, Stream, View};
use tokio::sync::{mpsc, watch};

use crate::log::EventLog;
use crate::supervise::{Final, Wish};
use crate::typing::{NotTaken, Typing};
use crate::window::Window;

/// A session as a door sees it. Whoever holds this holds the leash: letting go of it stops the command.
#[derive(Debug)]
pub struct Session {
    pub(crate) id: SessionId,
    pub(crate) pid: i32,
    pub(crate) receipt: Arc<Receipt>,
    pub(crate) log: Arc<EventLog>,
    pub(crate) wishes: mpsc::UnboundedSender<Wish>,
    /// Where its input is written, if it has one that is.
    pub(crate) typing: Option<Typing>,
    /// Its terminal, if it has one.
    pub(crate) window: Option<Arc<Window>>,
    pub(crate) outcome: watch::Receiver<Final>,
    pub(crate) leash: Leash,
}

/// Whether letting go of a session stops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leash {
    /// It does.
    Held,
    /// Somebody else holds it, or nobody does.
    Loose,
    /// The same, for a caller that asked for a run that was there already.
    Attached,
}

impl Session {
    /// Its id.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// What was asked and why it was allowed.
    pub fn receipt(&self) -> &Arc<Receipt> {
        &self.receipt
    }

    /// Its first process.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Asks it to end, then makes it. The first reason wins; an ended session does not mind.
    pub fn stop(&self, reason: StopReason) {
        let _ = self.wishes.send(Wish::Stop(reason));
    }

    /// Whether it runs on a terminal.
    pub fn is_terminal(&self) -> bool {
        self.window.is_some()
    }

    /// Hands over bytes for its input, all of them or none; they are written as fast as the command reads them.
    pub fn write(&self, bytes: Vec<u8>) -> Result<(), NotTaken> {
        self.window.as_ref().map_or(Ok(()), |window| window.takes(&bytes))?;
        self.typing.as_ref().ok_or(NotTaken::NoInput)?.write(bytes)
    }

    /// The same, waiting until the command has read enough of what was written before.
    pub async fn write_in_time(&self, bytes: Vec<u8>) -> Result<(), NotTaken> {
        self.typing.as_ref().ok_or(NotTaken::NoInput)?.write_in_time(bytes).await
    }

    /// Ends its input after what was written before; on a terminal, types ^D.
    pub fn close_input(&self) -> Result<(), NotTaken> {
        self.typing.as_ref().ok_or(NotTaken::NoInput)?.end()
    }

    /// Whether some of what was written still waits to be read.
    pub fn has_unread_input(&self) -> bool {
        self.typing.as_ref().is_some_and(|typing| typing.waiting() > 0)
    }

    /// Whether nothing can be written any more: somebody has closed its input, or it has ended.
    pub fn is_input_closed(&self) -> bool {
        self.typing.as_ref().is_none_or(Typing::is_closed)
    }

    /// Sends a signal as a terminal would: to whoever is in the foreground. An ended session does not mind.
    pub fn signal(&self, signal: Signal) {
        let _ = self.wishes.send(Wish::Signal(signal));
    }

    /// The size of its terminal, if it has one.
    pub fn size(&self) -> Option<Size> {
        self.window.as_ref().map(|window| window.size())
    }

    /// Gives its terminal another size; without a terminal this does nothing.
    pub fn resize(&self, size: Size) {
        if let Some(window) = &self.window {
            window.resize(size);
        }
    }

    /// How many bytes it has printed so far.
    pub fn printed(&self) -> u64 {
        self.log.position()
    }

    /// Everything that it prints.
    pub fn log(&self) -> &Arc<EventLog> {
        &self.log
    }

    /// Whether it was there already when it was asked for.
    pub fn is_attached(&self) -> bool {
        self.leash == Leash::Attached
    }

    /// Whether letting go of it stops it.
    pub fn is_held(&self) -> bool {
        self.leash == Leash::Held
    }

    /// From now on nobody holds the leash: it goes on until it ends, its time is up, or the server stops.
    pub fn loosen(&mut self) {
        self.leash = Leash::Loose;
    }

    /// How it ended, once it has.
    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome.borrow().clone()
    }

    /// The same session without the leash.
    #[must_use]
    pub fn watch(&self) -> Session {
        Session {
            id: self.id,
            pid: self.pid,
            receipt: self.receipt.clone(),
            log: self.log.clone(),
            wishes: self.wishes.clone(),
            typing: self.typing.clone(),
            window: self.window.clone(),
            outcome: self.outcome.clone(),
            leash: Leash::Loose,
        }
    }

    /// Waits for its end. May be dropped and called again.
    pub async fn over(&mut self) -> Outcome {
        let outcome = match self.outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone(),
            Err(_) => None,
        };
        outcome.unwrap_or_else(crate::supervise::lost)
    }

    /// Waits for its end and shows it. May be dropped and called again.
    pub async fn ended(&mut self) -> View {
        View {
            outcome: self.over().await,
            receipt: self.receipt.clone(),
            output_note: self.log.note(),
            stdout: self.log.captured(Stream::Stdout),
            stderr: self.log.captured(Stream::Stderr),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.leash == Leash::Held {
            self.stop(StopReason::Disconnected);
        }
    }
}
