//! Supervise: one task a session that feeds the lifecycle and performs its effects.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use runward_model::wire::Report;
use runward_model::{
    Ending, LimitHit, Outcome, Receipt, Request, SessionId, Signal, Stdio, StopReason, Tree, Usage,
};
use runward_process::{Child, Keyboard};
use runward_spool::Record;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;

use crate::confine::TemporaryDirectory;
use crate::denied::denied;
use crate::lifecycle::{Background, Effect, End, Gone, Input, State, Timer};
use crate::log::EventLog;
use crate::network::Unreached;
use crate::outputs::Outputs;
use crate::record::OpenCall;
use crate::screen::Screen;
use crate::scribe::Scribe;
use crate::session::{Leash, Session};
use crate::streams::{Source, Streams};
use crate::typing::Typing;
use crate::window::Window;
use crate::{Engine, Settings};
use crate::{waiting, workflow};

/// How a session ended, once it has.
pub(crate) type Final = Option<Outcome>;

/// How long killed processes are waited for before the answer goes without them.
const GIVE_UP: Duration = Duration::from_secs(3);

/// How long the record of an ended session waits, so that its answer is not held up by it.
const ANSWER_FIRST: Duration = Duration::from_millis(1);

/// A running session and everything that its task needs.
pub(crate) struct Supervision {
    child: Child,
    streams: Streams,
    wishes: Wishes,
    graces: Graces,
    started: Instant,
    exited: Option<Instant>,
    hit: Option<LimitHit>,
    waiting: bool,
    background: Background,
    /// Whether the log tells of it.
    logged: bool,
    _room: OwnedSemaphorePermit,
}

/// What a session has for itself.
pub(crate) struct Holdings {
    /// Its record, which has to be closed.
    pub(crate) open: OpenCall,
    /// Its place among those that may run.
    pub(crate) room: OwnedSemaphorePermit,
    /// What it reads.
    pub(crate) input: Option<Record>,
    /// Where its temporary files are, if not in a namespace of its own.
    pub(crate) temporary: Option<TemporaryDirectory>,
    /// Who records what is typed into it, where that is recorded.
    pub(crate) typist: Option<Scribe>,
    /// The hosts that it was kept from.
    pub(crate) unreached: Unreached,
    /// Held while it has the host's network.
    pub(crate) networked: Option<Arc<()>>,
}

/// What somebody wants of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wish {
    /// That it ends.
    Stop(StopReason),
    /// That whoever is in its foreground gets a signal.
    Signal(Signal),
}

/// Everything that can want something of a session.
struct Wishes {
    keyboard: Keyboard,
    queue: mpsc::UnboundedReceiver<Wish>,
    shutdown: CancellationToken,
    /// When its time is up, and how long that is.
    deadline: Option<(Instant, Duration)>,
    /// Set once one of them has been told; the first reason wins.
    told: Option<StopReason>,
}

#[derive(Clone, Copy)]
struct Graces {
    kill: Duration,
    shutdown: Duration,
    drain: Duration,
}

impl Supervision {
    /// Starts the task and returns the leash.
    pub(crate) fn begin(
        engine: &Engine,
        mut child: Child,
        request: Request,
        mut receipt: Receipt,
        Holdings { open, room, input, temporary, typist, unreached, networked }: Holdings,
    ) -> Session {
        let shared = &engine.0;
        let id = receipt.output.get_or_insert_with(Outputs::name).clone();
        let log = EventLog::spooled(shared.settings.output_limit, shared.store.clone(), id.clone());
        let (log, closing) = (Arc::new(log), shared.outputs.clone());
        let (wishes, queue) = mpsc::unbounded_channel();
        let (typing, source) = input_ends(input, &request.stdio, typist);
        let (sender, outcome) = watch::channel(None);
        let session = Session {
            id: child.session,
            pid: child.pid,
            receipt: Arc::new(receipt),
            log: log.clone(),
            wishes,
            typing,
            window: window(&request.stdio, &child),
            outcome,
            leash: Leash::Held,
        };
        shared.outputs.add(request.caller.principal, id.clone(), session.watch());
        let started = Instant::now();
        let supervision = Supervision {
            streams: Streams::take(
                &mut child,
                source,
                Screen::new(log.clone(), &shared.secrets(&request.env)),
            ),
            wishes: Wishes {
                keyboard: child.keyboard(),
                queue,
                shutdown: shared.stopping.clone(),
                deadline: request.timeout.map(|limit| (started + limit, limit)),
                told: None,
            },
            graces: Graces::new(&shared.settings),
            child,
            started,
            exited: None,
            hit: None,
            waiting: false,
            background: shared.settings.background,
            logged: shared.settings.log_commands,
            _room: room,
        };
        let (aborts, on_failure) = (engine.0.clone(), request.workflow.on_failure);
        let receipt = session.receipt.clone();
        shared.sessions.spawn(async move {
            let (mut outcome, left) = supervision.run().await;
            drop(temporary);
            outcome.denied = denied(&receipt, &outcome, &log, &unreached);
            log.close();
            workflow::after_end(on_failure, &aborts.settings.abort_file, &receipt.command, &outcome);
            sender.send_replace(Some(outcome.clone()));
            closing.ended(&id);
            // The answer goes first; writing the record would hold it up.
            tokio::time::sleep(ANSWER_FIRST).await;
            open.ended(&outcome, &log).await;
            discard(left, &aborts.stopping).await;
            drop(networked);
        });
        session
    }

    /// How it ended, and the outputs of what was left behind alive.
    async fn run(mut self) -> (Outcome, Option<Streams>) {
        let mut state = State::running(self.streams.open(), self.background);
        let timer = tokio::time::sleep(Duration::ZERO);
        tokio::pin!(timer);
        let mut armed = false;
        loop {
            let input = self.next(timer.as_mut(), armed).await;
            if input == Input::Timer && state.only_drains() && self.waits_for_a_reader() {
                armed = self.perform(Effect::Arm(Timer::Drain), timer.as_mut());
                continue;
            }
            armed &= input != Input::Timer;
            let (next, effects) = state.step(input);
            state = next;
            for effect in effects {
                armed |= self.perform(effect, timer.as_mut());
            }
            if let Some(end) = state.end() {
                return self.close(end);
            }
        }
    }

    /// Whether what is left in its pipes is only there because a reader is slow. A server that stops waits for none.
    fn waits_for_a_reader(&mut self) -> bool {
        self.streams.were_held() && !self.wishes.shutdown.is_cancelled()
    }

    /// Waits for the next thing to happen. What ends a session comes before what it prints.
    async fn next(&mut self, timer: Pin<&mut Sleep>, armed: bool) -> Input {
        // Outputs that are both at their end mean that the exit is about to be reported.
        if self.exited.is_none()
            && self.streams.are_over()
            && let Some(report) = self.child.reports.soon().await
        {
            return self.reported(report);
        }
        tokio::select! {
            biased;
            report = self.child.reports.next() => self.reported(report),
            reason = self.wishes.next(), if self.wishes.told.is_none() => Input::Stop(reason),
            () = timer, if armed => Input::Timer,
            stream = self.streams.carry() => Input::Eof(stream),
        }
    }

    fn reported(&mut self, report: Report) -> Input {
        match report {
            Report::Closed { ended, survivors, .. } => Input::Closed { ended, survivors },
            Report::Exited { ending, usage, hit, alone, .. } => {
                self.exited = Some(Instant::now());
                if let Some(terminal) = &self.child.terminal {
                    terminal.let_go();
                }
                self.hit = hit;
                Input::Exited { ending, usage, alone }
            }
            Report::Ready { .. } | Report::Started { .. } | Report::Failed { .. } => {
                Input::Exited { ending: Ending::Lost, usage: Usage::default(), alone: true }
            }
        }
    }

    /// Whether a timer was armed.
    fn perform(&mut self, effect: Effect, timer: Pin<&mut Sleep>) -> bool {
        match effect {
            Effect::Terminate => {
                let timed_out = matches!(self.wishes.told, Some(StopReason::TimedOut(_)));
                self.waiting = timed_out && waiting::for_input(self.child.pid);
                // Interactive shells do not end when they are asked to; they end with their terminal.
                if self.child.terminal.is_some() {
                    self.child.signal(Signal::HUP);
                }
                self.child.signal(Signal::TERM);
            }
            Effect::Release => self.child.release(),
            Effect::Close => self.child.close(),
            Effect::Arm(kind) => {
                timer.reset(Instant::now() + self.graces.of(kind, self.wishes.told));
                return true;
            }
        }
        false
    }

    fn close(self, end: End) -> (Outcome, Option<Streams>) {
        let End { ending, usage, gone, stopped, cut, kept } = end;
        let wall = self.exited.unwrap_or_else(Instant::now) - self.started;
        let Gone { ended, survivors } = gone;
        let tree = Tree { containment: self.child.containment, ended, kept, survivors };
        let outcome = Outcome {
            ending,
            stopped,
            wall,
            usage,
            tree,
            limit_hit: self.hit,
            waiting_for_input: self.waiting,
            output_cut: cut,
            denied: None,
        };
        if self.logged {
            record_end(self.child.session, &outcome);
        }
        (outcome, kept.then_some(self.streams))
    }
}

fn record_end(session: SessionId, outcome: &Outcome) {
    tracing::info!(
        %session,
        exit_code = outcome.exit_code(),
        stopped = outcome.stopped.map(tracing::field::display),
        wall_ms = u64::try_from(outcome.wall.as_millis()).unwrap_or(u64::MAX),
        max_rss_kib = outcome.usage.max_rss_kib,
        "closed"
    );
}

impl Wishes {
    /// The first wish for its end. What else is wished for is done meanwhile.
    async fn next(&mut self) -> StopReason {
        let reason = loop {
            tokio::select! {
                wish = self.queue.recv() => match wish {
                    Some(Wish::Stop(reason)) => break reason,
                    Some(Wish::Signal(signal)) => self.keyboard.signal(signal),
                    None => break StopReason::Disconnected,
                },
                () = self.shutdown.cancelled() => break StopReason::ShuttingDown,
                limit = time_is_up(self.deadline) => break StopReason::TimedOut(limit),
            }
        };
        self.told = Some(reason);
        reason
    }
}

async fn time_is_up(deadline: Option<(Instant, Duration)>) -> Duration {
    let Some((deadline, limit)) = deadline else { return std::future::pending().await };
    tokio::time::sleep_until(deadline).await;
    limit
}

/// The writing and the reading end of a session's input, where it has them.
fn input_ends(
    input: Option<Record>,
    stdio: &Stdio,
    typist: Option<Scribe>,
) -> (Option<Typing>, Option<Source>) {
    match (input, stdio) {
        (Some(record), _) => (None, Some(Source::Record(record))),
        (None, Stdio::Open | Stdio::Terminal(_)) => {
            let (typing, typed) = Typing::new();
            let typing = match typist {
                Some(typist) => typing.recorded_by(typist),
                None => typing,
            };
            (Some(typing), Some(Source::Typed(typed)))
        }
        (None, Stdio::Pipes | Stdio::Given(_)) => (None, None),
    }
}

fn window(stdio: &Stdio, child: &Child) -> Option<Arc<Window>> {
    match (stdio, &child.terminal) {
        (Stdio::Terminal(size), Some(terminal)) => Some(Arc::new(Window::new(*size, terminal))),
        _ => None,
    }
}

/// Reads what processes that were left alone print, for as long as they do and the server runs.
async fn discard(left: Option<Streams>, stopping: &CancellationToken) {
    if let Some(left) = left {
        tokio::select! {
            () = left.discard() => {}
            () = stopping.cancelled() => {}
        }
    }
}

impl Graces {
    fn new(settings: &Settings) -> Self {
        Graces { kill: settings.kill_grace, shutdown: settings.shutdown_grace, drain: settings.drain_grace }
    }

    fn of(self, timer: Timer, stopped: Option<StopReason>) -> Duration {
        match (timer, stopped) {
            (Timer::Grace, Some(StopReason::ShuttingDown)) => self.shutdown,
            (Timer::Grace, _) => self.kill,
            (Timer::Drain, _) => self.drain,
            (Timer::GiveUp, _) => GIVE_UP,
        }
    }
}

/// For a session whose task did not live to tell.
pub(crate) fn lost() -> Outcome {
    Outcome {
        ending: Ending::Lost,
        stopped: None,
        wall: Duration::ZERO,
        usage: Usage::default(),
        tree: Tree::default(),
        limit_hit: None,
        waiting_for_input: false,
        output_cut: true,
        denied: None,
    }
}
