//! A session as a door sees it.

use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use runward_model::wire::Seen;
use runward_model::{Outcome, OutputId, Receipt, SessionId, Signal, Size, StopReason, Stream, View};
use runward_process::Loopback;
use tokio::runtime::Handle;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::log::{EventLog, Tap};
use crate::running::{Control, Life};
use crate::terminal::TerminalHandle;
use crate::typing::{NotTaken, Typing};
use crate::watch::OnDisconnect;

/// What is handed to a command's input at once, so that a long text does not wait for all of it to have room.
const BLOCK: usize = 128 * 1024;

/// A session as a door sees it. Letting go of the one that [`crate::Executor::start`] returned is going away: what
/// becomes of the command was said when it was started.
#[derive(Debug)]
pub struct Session {
    pub(crate) common: Arc<Common>,
    pub(crate) outcome: watch::Receiver<Life>,
    /// What letting go of this one does.
    pub(crate) on_disconnect: OnDisconnect,
    pub(crate) is_attached: bool,
    /// Which of those that held it one after the other this is; only the last one matters.
    pub(crate) holder: u64,
}

/// What everybody who sees a session shares.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) id: SessionId,
    pub(crate) pid: i32,
    pub(crate) receipt: Arc<Receipt>,
    pub(crate) output: OutputId,
    pub(crate) log: Arc<EventLog>,
    pub(crate) controls: mpsc::UnboundedSender<Control>,
    /// Where its input is written, if it has one that is.
    pub(crate) typing: Option<Typing>,
    /// Its terminal, if it has one.
    pub(crate) terminal: Option<TerminalHandle>,
    /// Where what it serves is reached.
    pub(crate) loopback: Loopback,
    pub(crate) on_disconnect: OnDisconnect,
    pub(crate) holders: AtomicU64,
    /// How many bytes of its input have been taken; whoever writes holds the lock.
    pub(crate) written: AsyncMutex<u64>,
    /// Who owns the wait for somebody to take it up again.
    pub(crate) tasks: TaskTracker,
    pub(crate) stopping: CancellationToken,
}

impl Common {
    fn stop(&self, reason: StopReason) {
        let _ = self.controls.send(Control::Stop(reason));
    }

    /// Nobody will come any more.
    fn give_up(&self, reason: StopReason) {
        if let Some(tap) = self.log.tap() {
            tap.abandon();
        }
        self.stop(reason);
    }
}

impl Session {
    /// Its id.
    pub fn id(&self) -> SessionId {
        self.common.id
    }

    /// What was asked and why it was allowed.
    pub fn receipt(&self) -> &Arc<Receipt> {
        &self.common.receipt
    }

    /// By which name callers find it and its output again.
    pub fn name(&self) -> &OutputId {
        &self.common.output
    }

    /// Its first process.
    pub fn pid(&self) -> i32 {
        self.common.pid
    }

    /// Asks it to end, then makes it. The first reason wins; an ended session does not mind.
    pub fn stop(&self, reason: StopReason) {
        self.common.stop(reason);
    }

    /// Whether it runs on a terminal.
    pub fn is_terminal(&self) -> bool {
        self.common.terminal.is_some()
    }

    /// Hands over bytes for its input, all of them or none; they are written as fast as the command reads them.
    pub fn write(&self, bytes: Vec<u8>) -> Result<(), NotTaken> {
        self.common.terminal.as_ref().map_or(Ok(()), |terminal| terminal.takes(&bytes))?;
        self.typing()?.write(bytes)
    }

    /// Hands over bytes that come after the first `at` of its input, or after all that came before, waiting until the
    /// command has room for them; says how many it has taken in all. A sender that did not hear so sends the same
    /// again: what was taken already is left out.
    pub async fn write_at(&self, at: Option<u64>, bytes: &[u8]) -> Result<u64, NotTaken> {
        let mut written = self.common.written.lock().await;
        let at = at.unwrap_or(*written);
        let known = written.checked_sub(at).and_then(|known| usize::try_from(known).ok());
        let known = known.ok_or(NotTaken::Missing { at, written: *written })?;
        for block in bytes.get(known..).unwrap_or_default().chunks(BLOCK) {
            self.typing()?.write_in_time(block.to_vec()).await?;
            *written += block.len() as u64;
        }
        Ok(*written)
    }

    /// Ends its input after what was written before; on a terminal, types ^D.
    pub fn close_input(&self) -> Result<(), NotTaken> {
        self.typing()?.end()
    }

    fn typing(&self) -> Result<&Typing, NotTaken> {
        self.common.typing.as_ref().ok_or(NotTaken::NoInput)
    }

    /// Whether some of what was written still waits to be read.
    pub fn has_unread_input(&self) -> bool {
        self.typing().is_ok_and(|typing| typing.waiting() > 0)
    }

    /// Whether nothing can be written any more: somebody has closed its input, or it has ended.
    pub fn is_input_closed(&self) -> bool {
        self.typing().map_or(true, Typing::is_closed)
    }

    /// Sends a signal as a terminal would: to whoever is in the foreground. An ended session does not mind.
    pub fn signal(&self, signal: Signal) {
        let _ = self.common.controls.send(Control::Signal(signal));
    }

    /// The size of its terminal, if it has one.
    pub fn size(&self) -> Option<Size> {
        self.common.terminal.as_ref().map(TerminalHandle::size)
    }

    /// Gives its terminal another size; without a terminal this does nothing.
    pub fn resize(&self, size: Size) {
        if let Some(terminal) = &self.common.terminal {
            terminal.resize(size);
        }
    }

    /// How many bytes it has printed so far.
    pub fn printed(&self) -> u64 {
        self.common.log.position()
    }

    /// Everything that it prints.
    pub fn log(&self) -> &Arc<EventLog> {
        &self.common.log
    }

    /// Where readers that may miss nothing read, if it was started for such and anything is still kept for them.
    pub fn events(&self) -> Option<&Arc<Tap>> {
        self.common.log.tap().filter(|tap| tap.keeping().is_some())
    }

    /// Whether it was there already when it was asked for.
    pub fn is_attached(&self) -> bool {
        self.is_attached
    }

    /// Whether letting go of it stops it.
    pub fn is_held(&self) -> bool {
        self.on_disconnect == OnDisconnect::Stop
    }

    /// From now on letting go of it stops nothing.
    pub fn detach(&mut self) {
        self.on_disconnect = OnDisconnect::Detach;
    }

    /// Takes it up for whoever went away. Where only the one that started it may read it, this does nothing and says so.
    pub fn resume(&mut self) -> bool {
        self.holder = self.common.holders.fetch_add(1, Ordering::Relaxed) + 1;
        self.on_disconnect = match self.common.on_disconnect {
            OnDisconnect::Stop => return false,
            resumable => resumable,
        };
        true
    }

    /// What there is of it just now: its processes, the ports that they listen on, and whether this file is there. Nothing,
    /// where it has ended.
    pub fn look(&self, file: Option<CString>) -> impl Future<Output = Seen> + use<> {
        let (tell, told) = oneshot::channel();
        let _ = self.common.controls.send(Control::Look(file, tell));
        async { told.await.unwrap_or_default() }
    }

    /// How it ended, once nothing of it is left.
    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome.borrow().of_all().cloned()
    }

    /// How its command ended, once that has; what it left behind may go on.
    pub fn command_outcome(&self) -> Option<Outcome> {
        self.outcome.borrow().of_command().cloned()
    }

    /// The same session for somebody who only looks: letting go of that stops nothing.
    #[must_use]
    pub fn watch(&self) -> Session {
        Session {
            common: self.common.clone(),
            outcome: self.outcome.clone(),
            on_disconnect: OnDisconnect::Detach,
            is_attached: false,
            holder: self.holder,
        }
    }

    /// Waits for its end. May be dropped and called again.
    pub async fn over(&mut self) -> Outcome {
        match self.outcome.wait_for(|life| life.of_all().is_some()).await {
            Ok(life) => life.of_all().cloned(),
            Err(_) => None,
        }
        .unwrap_or_else(crate::running::lost)
    }

    /// Waits for the end of its command, whatever that leaves behind. May be dropped and called again.
    pub async fn command_over(&mut self) -> Outcome {
        match self.outcome.wait_for(|life| life.of_command().is_some()).await {
            Ok(life) => life.of_command().cloned(),
            Err(_) => None,
        }
        .unwrap_or_else(crate::running::lost)
    }

    /// Waits for its end and shows it. May be dropped and called again.
    pub async fn ended(&mut self) -> View {
        let outcome = self.over().await;
        self.view(outcome)
    }

    /// Waits for the end of its command and shows it. May be dropped and called again.
    pub async fn command_ended(&mut self) -> View {
        let outcome = self.command_over().await;
        self.view(outcome)
    }

    fn view(&self, outcome: Outcome) -> View {
        let Common { receipt, log, .. } = &*self.common;
        View {
            outcome,
            receipt: receipt.clone(),
            output_note: log.note(),
            stdout: log.captured(Stream::Stdout),
            stderr: log.captured(Stream::Stderr),
        }
    }

    /// Gives up once nobody has come in time. A server that stops says itself why its sessions end.
    fn give_up_after(&self, patience: Duration) {
        let Ok(runtime) = Handle::try_current() else { return };
        let (common, holder) = (self.common.clone(), self.holder);
        let waiting = async move {
            let reason = tokio::select! {
                () = tokio::time::sleep(patience) => StopReason::Disconnected,
                () = common.stopping.cancelled() => StopReason::ShuttingDown,
            };
            if common.holders.load(Ordering::Relaxed) == holder {
                common.give_up(reason);
            }
        };
        self.common.tasks.spawn_on(waiting, &runtime);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        match self.on_disconnect {
            OnDisconnect::Stop => self.common.give_up(StopReason::Disconnected),
            OnDisconnect::Resume(patience) => self.give_up_after(patience),
            OnDisconnect::Detach => {}
        }
    }
}
