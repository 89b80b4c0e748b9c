//! The side of a session that whoever runs it has: a log to fill, controls to obey, and an end to tell.
//!
//! Commands and patches begin and end here; so will whatever runs elsewhere and is only followed from here.

use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use runward_model::wire::Seen;
use runward_model::{Ending, OnFailure, Outcome, OutputId, Receipt, Request, SessionId, Signal, StopReason};
use runward_process::Loopback;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot, watch};

use crate::log::EventLog;
use crate::record::OpenCall;
use crate::redact::RedactingSink;
use crate::session::{Common, Session};
use crate::terminal::TerminalHandle;
use crate::typing::Typing;
use crate::watch::Watch;
use crate::{Engine, names, workflow};

/// How far a session has come.
#[derive(Clone, Debug)]
pub(crate) enum Life {
    /// Its command runs.
    Running,
    /// Its command has ended like this, and what that left behind goes on.
    GoesOn(Outcome),
    /// Nothing of it is left.
    Ended(Outcome),
}

impl Life {
    /// How its command ended, once it has.
    pub(crate) fn of_command(&self) -> Option<&Outcome> {
        match self {
            Life::Running => None,
            Life::GoesOn(outcome) | Life::Ended(outcome) => Some(outcome),
        }
    }

    /// How all of it ended, once it has.
    pub(crate) fn of_all(&self) -> Option<&Outcome> {
        if let Life::Ended(outcome) = self { Some(outcome) } else { None }
    }
}

/// How long the record of an ended session waits, so that its answer is not held up by it.
const ANSWER_FIRST: Duration = Duration::from_millis(1);

/// What somebody wants of a session.
#[derive(Debug)]
pub(crate) enum Control {
    /// That it ends.
    Stop(StopReason),
    /// That whoever is in its foreground gets a signal.
    Signal(Signal),
    /// To know what there is of it, and whether this file is there.
    Look(Option<CString>, oneshot::Sender<Seen>),
}

/// Where what is wanted of a session arrives.
pub(crate) type Controls = mpsc::UnboundedReceiver<Control>;

/// What has begun to run.
pub(crate) struct Begun {
    pub(crate) id: SessionId,
    /// Its first process, or 0 where the server does the work itself.
    pub(crate) pid: i32,
    pub(crate) receipt: Receipt,
    pub(crate) typing: Option<Typing>,
    pub(crate) terminal: Option<TerminalHandle>,
    pub(crate) loopback: Loopback,
}

/// A session that runs, for whoever runs it.
pub(crate) struct Running {
    engine: Engine,
    outcome: watch::Sender<Life>,
    output: OutputId,
    on_failure: OnFailure,
    pub(crate) receipt: Arc<Receipt>,
    pub(crate) log: Arc<EventLog>,
}

impl Running {
    /// Both sides of a session: what doors see, and what whoever runs it has, with what is wanted of it. Callers can find it from now on.
    pub(crate) fn begin(
        engine: &Engine,
        request: &Request,
        watch: Watch,
        begun: Begun,
    ) -> (Session, Self, Controls) {
        let (shared, principal) = (&engine.0, &request.caller.principal);
        let Begun { id, pid, mut receipt, typing, terminal, loopback } = begun;
        let output = receipt.output.get_or_insert_with(|| names::output(principal)).clone();
        let (limit, store) = (shared.settings.output_limit, &shared.store);
        let log = Arc::new(match watch {
            Watch::Call | Watch::Kept => EventLog::spooled(limit, store.clone(), output.clone()),
            Watch::Events { shape, on_disconnect } => {
                EventLog::tapped(limit, store, &output, on_disconnect.keeping(), shape)
            }
        });
        let ((controls, queue), (sender, outcome)) =
            (mpsc::unbounded_channel(), watch::channel(Life::Running));
        let (receipt, on_disconnect) = (Arc::new(receipt), watch.on_disconnect());
        let common = Common {
            id: names::session(principal, id),
            pid,
            receipt: receipt.clone(),
            output: output.clone(),
            log: log.clone(),
            controls,
            typing,
            terminal,
            loopback,
            on_disconnect,
            holders: AtomicU64::new(0),
            written: AsyncMutex::default(),
            tasks: shared.sessions.clone(),
            stopping: shared.stopping.clone(),
        };
        let session =
            Session { common: Arc::new(common), outcome, on_disconnect, is_attached: false, holder: 0 };
        shared.outputs.add(principal.clone(), output.clone(), session.watch());
        let on_failure = request.workflow.on_failure;
        let engine = engine.clone();
        (session, Running { engine, outcome: sender, output, on_failure, receipt, log }, queue)
    }

    /// The way into its log.
    pub(crate) fn sink(&self, request: &Request) -> RedactingSink {
        RedactingSink::new(self.log.clone(), &self.engine.0.secrets(&request.env))
    }

    /// Tells that its command has ended, and that what it left behind goes on.
    pub(crate) fn goes_on(&self, outcome: Outcome) {
        self.stops_what_follows(&outcome);
        self.outcome.send_replace(Life::GoesOn(outcome));
    }

    /// Tells its end to everybody, in this order: all that it printed is there before anybody hears that it ended; the
    /// file that stops what follows is there before a caller that heard of the failure can start that; the caller hears
    /// before the output can be evicted to make room; and the record, which may wait for a disk, holds up no answer.
    pub(crate) async fn end(self, open: OpenCall, outcome: Outcome) {
        let Running { engine, log, .. } = &self;
        log.close();
        // What went on after its command is nobody's next step.
        if let Life::Running = &*self.outcome.borrow() {
            self.stops_what_follows(&outcome);
        }
        self.outcome.send_replace(Life::Ended(outcome.clone()));
        engine.0.outputs.ended(&self.output);
        tokio::time::sleep(ANSWER_FIRST).await;
        open.ended(&outcome, log).await;
    }

    fn stops_what_follows(&self, outcome: &Outcome) {
        let file = &self.engine.0.settings.abort_file;
        workflow::after_end(self.on_failure, file, &self.receipt.command, outcome);
    }
}

/// For a session whose task did not live to tell.
pub(crate) fn lost() -> Outcome {
    Outcome { output_cut: true, ..Outcome::of(Ending::Lost) }
}
