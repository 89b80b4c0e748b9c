//! Supervise: one task a session that feeds the lifecycle and performs its effects.

use std::ffi::CString;
use std::pin::Pin;
use std::time::Duration;

use crate::room::Place;
use runward_model::wire::Report;
use runward_model::{
    Ending, LimitHit, Outcome, Receipt, Request, SessionId, Signal, Stdio, StopReason, Tree, Usage,
};
use runward_process::{Child, Keyboard};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;

use crate::confine::Confined;
use crate::denied::denied;
use crate::lifecycle::{Background, Effect, End, Gone, Input, State, Timer};
use crate::record::OpenCall;
use crate::running::{self, Begun, Control, Running};
use crate::session::Session;
use crate::streams::{Source, Streams};
use crate::terminal::TerminalHandle;
use crate::typing::Typing;
use crate::watch::Watch;
use crate::{Engine, Settings};

/// How long killed processes are waited for before the answer goes without them.
const GIVE_UP: Duration = Duration::from_secs(3);

/// A running session and everything that its task needs.
struct Supervision {
    child: Child,
    streams: Streams,
    controls: Controls,
    graces: Graces,
    started: Instant,
    exited: Option<Instant>,
    hit: Option<LimitHit>,
    waiting: bool,
    /// What of its files is held back.
    held: Vec<CString>,
    background: Background,
    /// Whether the log tells of it.
    logged: bool,
}

/// A command that has been started, and what it holds.
pub(crate) struct Started {
    pub(crate) child: Child,
    /// Its record, which has to be closed.
    pub(crate) open: OpenCall,
    /// Its place among those that may run.
    pub(crate) place: Place,
    /// Both ends of its input, where it has them.
    pub(crate) input: (Option<Typing>, Option<Source>),
    /// What has to be there for as long as it runs.
    pub(crate) confined: Confined,
}

/// Everything that can want something of a session.
struct Controls {
    keyboard: Keyboard,
    queue: running::Controls,
    shutdown: CancellationToken,
    /// When its time is up, and how long that is.
    deadline: Option<(Instant, Duration)>,
    /// Set once one of them has been told; the first reason wins.
    told: Option<StopReason>,
}

/// A command that has ended.
struct Supervised {
    outcome: Outcome,
    /// The outputs of what was left behind alive.
    left: Option<Streams>,
    /// What of its files is held back.
    held: Vec<CString>,
}

#[derive(Clone, Copy)]
struct Graces {
    kill: Duration,
    shutdown: Duration,
    drain: Duration,
}

/// Starts the task that supervises a command.
pub(crate) fn begin(
    engine: &Engine,
    request: &Request,
    receipt: Receipt,
    watch: Watch,
    started: Started,
) -> Session {
    let Started { mut child, open, place, input: (typing, source), confined } = started;
    let (id, pid, terminal) = (child.session, child.pid, terminal(&request.stdio, &child));
    let begun = Begun { id, pid, receipt, typing, terminal };
    let (session, running, queue) = Running::begin(engine, request, watch, begun);
    let streams = Streams::take(&mut child, source, running.sink(request));
    let supervision = Supervision::new(engine, request.timeout, child, streams, queue);
    let stopping = engine.0.stopping.clone();
    engine.0.sessions.spawn(async move {
        let Supervised { mut outcome, left, held } = supervision.run().await;
        // Another command may run, and the disk is given back, before the answer goes out.
        drop(place);
        let Confined { temporary, unreached, networked, proxy_port, .. } = confined;
        drop(temporary);
        // So may its proxy's port, unless what was left behind still has that.
        let proxy_port = proxy_port.filter(|_| left.is_some());
        outcome.denied = denied(&running.receipt, &outcome, &running.log, &unreached, &held);
        running.end(open, outcome).await;
        discard(left, &stopping).await;
        // What was left alive may reach this host for as long as it prints.
        drop((networked, proxy_port));
    });
    session
}

impl Supervision {
    fn new(
        engine: &Engine,
        timeout: Option<Duration>,
        child: Child,
        streams: Streams,
        queue: running::Controls,
    ) -> Self {
        let (shared, started) = (&engine.0, Instant::now());
        let controls = Controls {
            keyboard: child.keyboard(),
            queue,
            shutdown: shared.stopping.clone(),
            deadline: timeout.map(|limit| (started + limit, limit)),
            told: None,
        };
        Supervision {
            streams,
            controls,
            graces: Graces::new(&shared.settings),
            child,
            started,
            exited: None,
            hit: None,
            waiting: false,
            held: Vec::new(),
            background: shared.settings.background,
            logged: shared.settings.log_commands,
        }
    }

    async fn run(mut self) -> Supervised {
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
        self.streams.were_held() && !self.controls.shutdown.is_cancelled()
    }

    /// Waits for the next thing to happen. What ends a session comes before what it prints.
    async fn next(&mut self, mut timer: Pin<&mut Sleep>, armed: bool) -> Input {
        loop {
            // Outputs that are both at their end mean that the exit is about to be reported.
            if self.exited.is_none()
                && self.streams.are_over()
                && let Some(report) = self.child.reports.try_next_for_a_moment().await
                && let Some(input) = self.reported(report)
            {
                return input;
            }
            tokio::select! {
                biased;
                report = self.child.reports.next() => if let Some(input) = self.reported(report) {
                    return input;
                },
                reason = self.controls.next(), if self.controls.told.is_none() => return Input::Stop(reason),
                () = timer.as_mut(), if armed => return Input::Timer,
                stream = self.streams.carry() => return Input::Eof(stream),
            }
        }
    }

    /// What it means for the lifecycle, if it means anything.
    fn reported(&mut self, report: Report) -> Option<Input> {
        Some(match report {
            Report::Probed { waits_for_input, .. } => {
                self.waiting = waits_for_input;
                return None;
            }
            Report::Held { paths, .. } => {
                self.held = paths;
                return None;
            }
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
        })
    }

    /// Whether a timer was armed.
    fn perform(&mut self, effect: Effect, timer: Pin<&mut Sleep>) -> bool {
        match effect {
            Effect::Terminate => {
                // Ordered before the signals, so looked at while its processes are still there.
                if matches!(self.controls.told, Some(StopReason::TimedOut(_))) {
                    self.child.probe();
                }
                // Interactive shells do not end when they are asked to; they end with their terminal.
                if self.child.terminal.is_some() {
                    self.child.signal(Signal::HUP);
                }
                self.child.signal(Signal::TERM);
            }
            Effect::Release => self.child.release(),
            Effect::Close => self.child.close(),
            Effect::Arm(kind) => {
                timer.reset(Instant::now() + self.graces.of(kind, self.controls.told));
                return true;
            }
        }
        false
    }

    fn close(self, end: End) -> Supervised {
        let End { ending, usage, gone, stopped, cut, kept } = end;
        let wall = self.exited.unwrap_or_else(Instant::now) - self.started;
        let Gone { ended, survivors } = gone;
        let tree = Tree { containment: self.child.containment, ended, kept, survivors };
        let outcome = Outcome {
            stopped,
            wall,
            usage,
            tree,
            limit_hit: self.hit,
            waiting_for_input: self.waiting,
            output_cut: cut,
            ..Outcome::of(ending)
        };
        if self.logged {
            record_end(self.child.session, &outcome);
        }
        Supervised { outcome, left: kept.then_some(self.streams), held: self.held }
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

impl Controls {
    /// The first reason to end it. What else is wanted is done meanwhile.
    async fn next(&mut self) -> StopReason {
        let reason = loop {
            tokio::select! {
                control = self.queue.recv() => match control {
                    Some(Control::Stop(reason)) => break reason,
                    Some(Control::Signal(signal)) => self.keyboard.signal(signal),
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

fn terminal(stdio: &Stdio, child: &Child) -> Option<TerminalHandle> {
    match (stdio, &child.terminal) {
        (Stdio::Terminal(size), Some(terminal)) => Some(TerminalHandle::new(*size, terminal)),
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
