//! Supervise: one task a session that feeds the lifecycle and performs its effects.

use std::collections::VecDeque;
use std::ffi::CString;
use std::pin::Pin;
use std::time::Duration;

use crate::room::Place;
use runward_model::wire::{Report, Seen};
use runward_model::{
    Ending, LimitHit, Outcome, Receipt, Request, SessionId, Signal, Stdio, StopReason, Tree, Usage,
};
use runward_process::{Child, Keyboard, Looking, Loopback};
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;

use crate::confine::Confined;
use crate::denied::{complaints, denied};
use crate::exhausted::complained_of;
use crate::leaving::Leaving;
use crate::lifecycle::{Background, Effect, End, Gone, Input, State, Timer};
use crate::record::OpenCall;
use crate::running::{self, Begun, Control, Running};
use crate::session::Session;
use crate::streams::{Source, Streams};
use crate::terminal::TerminalHandle;
use crate::typing::Typing;
use crate::watch::Watch;
use crate::{Engine, Settings, publish};

/// How long killed processes are waited for before the answer goes without them.
const GIVE_UP: Duration = Duration::from_secs(3);

/// A running session and everything that its task needs.
struct Supervision {
    child: Child,
    streams: Streams,
    controls: Controls,
    graces: Graces,
    leaving: Leaving,
    started: Instant,
    exited: Option<(Instant, Ending, Usage)>,
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

/// Why it was looked what there is of a session.
enum Look {
    /// To let go on what is left.
    ToGoOn,
    /// Somebody wants to know.
    Asked(oneshot::Sender<Seen>),
}

/// Everything that can want something of a session.
struct Controls {
    keyboard: Keyboard,
    looking: Looking,
    /// In the order in which they will be answered.
    looks: VecDeque<Look>,
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
    /// Who was told, and is to be told of its end.
    leaving: Leaving,
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
    let Started { mut child, open, place, input: (typing, source), mut confined } = started;
    let (id, pid, terminal) = (child.session, child.pid, terminal(&request.stdio, &child));
    let loopback = std::mem::replace(&mut child.loopback, Loopback::Host);
    let begun = Begun { id, pid, receipt, typing, terminal, loopback };
    let (session, running, queue) = Running::begin(engine, request, watch, begun);
    publish::serve(engine, &session, std::mem::take(&mut confined.published));
    let streams = Streams::take(&mut child, source, running.sink(request));
    let leaving =
        Leaving::new(engine, request, (&session, watch), confined.unreached.clone(), (running, place));
    let supervision = Supervision::new(engine, (request.timeout, leaving), child, streams, queue);
    let (stopping, limits) = (engine.0.stopping.clone(), engine.0.settings.limits);
    engine.0.sessions.spawn(async move {
        let Supervised { mut outcome, left, held, leaving } = supervision.run().await;
        // Another command may run, and the disk is given back, before the answer goes out.
        let running = leaving.make_room();
        let Confined { temporary, unreached, networked, proxy_port, place, .. } = confined;
        drop(temporary);
        // So may its proxy's port, unless what was left behind still has that.
        let proxy_port = proxy_port.filter(|_| left.is_some());
        let said = complaints(&outcome, &running.log);
        outcome.limit_hit = complained_of(&outcome, &limits, &said);
        outcome.denied = denied(&running.receipt, &outcome, &running.log, &unreached, &held);
        running.end(open, outcome).await;
        discard(left, &stopping).await;
        // What was left alive may reach this host for as long as it prints.
        drop((networked, proxy_port, place));
    });
    session
}

impl Supervision {
    fn new(
        engine: &Engine,
        (timeout, leaving): (Option<Duration>, Leaving),
        child: Child,
        streams: Streams,
        queue: running::Controls,
    ) -> Self {
        let (shared, started) = (&engine.0, Instant::now());
        let controls = Controls {
            keyboard: child.keyboard(),
            looking: child.looking(),
            looks: VecDeque::new(),
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
            background: leaving.background(),
            leaving,
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
            Report::Seen { seen, .. } => return self.seen(seen),
            Report::Closed { ended, survivors, .. } => Input::Closed { ended, survivors },
            Report::Exited { ending, usage, hit, alone, .. } => {
                self.exited = Some((Instant::now(), ending, usage));
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

    /// Takes note of what there is of it.
    fn seen(&mut self, seen: Seen) -> Option<Input> {
        match self.controls.looks.pop_front()? {
            Look::Asked(tell) => {
                let _ = tell.send(seen);
                None
            }
            Look::ToGoOn if seen.processes == 0 => Some(Input::Nobody),
            Look::ToGoOn => {
                let (_, ending, usage) = self.exited?;
                let tree = Tree { containment: self.child.containment, ..Tree::default() };
                let outcome = Outcome { tree, ..self.outcome(ending, usage) };
                (!self.leaving.go_on(outcome, seen.processes)).then_some(Input::NoRoom)
            }
        }
    }

    /// An end in some way, as far as nothing else has to be known.
    fn outcome(&self, ending: Ending, usage: Usage) -> Outcome {
        let exited = self.exited.map_or_else(Instant::now, |(exited, ..)| exited);
        let wall = exited - self.started;
        Outcome { wall, usage, limit_hit: self.hit, waiting_for_input: self.waiting, ..Outcome::of(ending) }
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
            Effect::GoOn => {
                // What its caller gave it was time for the command.
                self.controls.deadline = None;
                self.controls.look(None, Look::ToGoOn);
            }
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
        let Gone { ended, survivors } = gone;
        let tree = Tree { containment: self.child.containment, ended, kept, survivors, left: None };
        let outcome = Outcome { stopped, tree, output_cut: cut, ..self.outcome(ending, usage) };
        if self.logged {
            record_end(self.child.session, &outcome);
        }
        let left = kept.then_some(self.streams);
        Supervised { outcome, left, held: self.held, leaving: self.leaving }
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
    /// Has the runner look what there is of the session; what it saw is for whoever asked in this order.
    fn look(&mut self, file: Option<CString>, look: Look) {
        self.looks.push_back(look);
        self.looking.look(file);
    }

    /// The first reason to end it. What else is wanted is done meanwhile.
    async fn next(&mut self) -> StopReason {
        let reason = loop {
            tokio::select! {
                control = self.queue.recv() => match control {
                    Some(Control::Stop(reason)) => break reason,
                    Some(Control::Signal(signal)) => self.keyboard.signal(signal),
                    Some(Control::Look(file, tell)) => self.look(file, Look::Asked(tell)),
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
