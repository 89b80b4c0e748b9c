//! A session's life as a total function: no clock, no process, no await.
//!
//! Exit is not end of file: a session ends when its first process has ended, nothing of it is left alive, and both
//! outputs are at their end, or when the drain grace for them is over.

use runward_model::{Ending, StopReason, Stream, Usage};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// The first process has ended; `alone` when nothing else is left.
    Exited {
        /// How.
        ending: Ending,
        /// What it used.
        usage: Usage,
        /// Whether it was the last.
        alone: bool,
    },
    /// Nothing of the session is left alive, but for `survivors`.
    Closed {
        /// How many had to be killed.
        ended: u32,
        /// Who could not be.
        survivors: Vec<i32>,
    },
    /// An output is at its end.
    Eof(Stream),
    /// Somebody wants it stopped.
    Stop(StopReason),
    /// The timer that was armed last has run out.
    Timer,
    /// There was nobody left to go on when that was looked for.
    Nobody,
    /// What is left may not go on: there is no room for it.
    NoRoom,
}

/// Something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Ask every process to end.
    Terminate,
    /// Kill every process.
    Close,
    /// Leave what is left alone.
    Release,
    /// See what is left, and let it go on as a session of its client.
    GoOn,
    /// Start this timer; it replaces the one before it.
    Arm(Timer),
}

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// How long processes that were asked to end may take.
    Grace,
    /// How long outputs that are still open are read, and processes left alone, once the first process has ended.
    Drain,
    /// How long killed processes are waited for. Only one that hangs in the kernel needs it.
    GiveUp,
}

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    Stopping,
    Draining,
    /// The first process has ended; what it left behind goes on.
    GoingOn,
    Closing,
    Ended,
}

/// What is known of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    phase: Phase,
    exit: Option<(Ending, Usage)>,
    gone: Option<Gone>,
    stdout_open: bool,
    stderr_open: bool,
    stopped: Option<StopReason>,
    cut: bool,
    background: Background,
    kept: Kept,
}

/// Whether what the first process left behind lives on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    No,
    Yes,
}

/// What becomes of processes that the first one leaves behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// They are killed after a grace.
    #[default]
    Kill,
    /// They go on as a session of their client, and end with it at the latest; where nobody could come back to that, they
    /// are killed.
    Session,
    /// They live as long as the server.
    Keep,
}

/// What became of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gone {
    pub(crate) ended: u32,
    pub(crate) survivors: Vec<i32>,
}

/// All that an ended session has to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) ending: Ending,
    pub(crate) usage: Usage,
    pub(crate) gone: Gone,
    pub(crate) stopped: Option<StopReason>,
    pub(crate) cut: bool,
    /// Whether what was left behind was left alone.
    pub(crate) kept: bool,
}

impl State {
    /// A session that has just begun, with these outputs.
    pub(crate) fn running(outputs: impl IntoIterator<Item = Stream>, background: Background) -> Self {
        let mut state = State {
            phase: Phase::Running,
            exit: None,
            gone: None,
            stdout_open: false,
            stderr_open: false,
            stopped: None,
            cut: false,
            background,
            kept: Kept::No,
        };
        for stream in outputs {
            *state.is_open(stream) = true;
        }
        state
    }

    fn is_open(&mut self, stream: Stream) -> &mut bool {
        match stream {
            Stream::Stdout => &mut self.stdout_open,
            Stream::Stderr => &mut self.stderr_open,
        }
    }

    /// What there is to tell, once there is nothing more to wait for.
    pub(crate) fn end(&self) -> Option<End> {
        let (ending, usage) = self.exit.unwrap_or((Ending::Lost, Usage::default()));
        let gone = self.gone.clone().unwrap_or_default();
        (self.phase == Phase::Ended).then_some(End {
            ending,
            usage,
            gone,
            stopped: self.stopped,
            cut: self.cut,
            kept: self.kept == Kept::Yes,
        })
    }

    /// Whether nothing of it is left but what is still to be read.
    pub(crate) fn only_drains(&self) -> bool {
        self.phase == Phase::Draining && self.gone.is_some()
    }

    /// Takes one input; total: any input may come in any phase.
    pub(crate) fn step(mut self, input: Input) -> (Self, Vec<Effect>) {
        if self.phase == Phase::Ended {
            return (self, Vec::new());
        }
        if input == Input::Nobody && self.phase == Phase::GoingOn {
            return (self, vec![Effect::Arm(Timer::Drain)]);
        }
        let timer = input == Input::Timer;
        self.learn(input);
        let effects = self.advance(timer);
        (self, effects)
    }

    fn learn(&mut self, input: Input) {
        match input {
            Input::Exited { ending, usage, alone } => {
                self.exit.get_or_insert((ending, usage));
                if alone {
                    self.gone.get_or_insert_default();
                }
            }
            Input::Closed { ended, survivors } => {
                self.gone.get_or_insert(Gone { ended, survivors });
            }
            Input::Eof(stream) => *self.is_open(stream) = false,
            Input::Stop(reason) if self.exit.is_none() || self.phase == Phase::GoingOn => {
                self.stopped.get_or_insert(reason);
            }
            // Nobody will come back to what is left.
            Input::Stop(_) | Input::NoRoom if self.background == Background::Session => {
                self.background = Background::Kill;
            }
            Input::Stop(_) | Input::NoRoom | Input::Nobody | Input::Timer => {}
        }
    }

    fn advance(&mut self, timer: bool) -> Vec<Effect> {
        let open = self.stdout_open || self.stderr_open;
        let (exited, gone) = (self.exit.is_some(), self.gone.is_some());
        if exited && gone && !open {
            self.phase = Phase::Ended;
            return Vec::new();
        }
        match self.phase {
            Phase::GoingOn => self.go_on(timer),
            Phase::Running | Phase::Draining if exited && !open && self.keeps() => self.release(),
            Phase::Running if exited => self.enter(Phase::Draining, vec![Effect::Arm(Timer::Drain)]),
            Phase::Running if self.stopped.is_some() => {
                self.enter(Phase::Stopping, vec![Effect::Terminate, Effect::Arm(Timer::Grace)])
            }
            Phase::Stopping | Phase::Closing if exited && gone => {
                self.enter(Phase::Draining, vec![Effect::Arm(Timer::Drain)])
            }
            Phase::Stopping if timer => self.close(),
            Phase::Draining if timer => self.stop_draining(open),
            Phase::Closing if timer => self.give_up(open),
            Phase::Running | Phase::Stopping | Phase::Draining | Phase::Closing | Phase::Ended => Vec::new(),
        }
    }

    fn enter(&mut self, phase: Phase, effects: Vec<Effect>) -> Vec<Effect> {
        self.phase = phase;
        effects
    }

    /// Everything that is left is killed.
    fn close(&mut self) -> Vec<Effect> {
        self.enter(Phase::Closing, vec![Effect::Close, Effect::Arm(Timer::GiveUp)])
    }

    /// Whether what is left behind is left alone. A session that is being stopped leaves nothing behind.
    fn keeps(&self) -> bool {
        self.background == Background::Keep && self.stopped.is_none()
    }

    /// Ends the session and lets what is left of it live.
    fn release(&mut self) -> Vec<Effect> {
        self.kept = Kept::Yes;
        self.enter(Phase::Ended, vec![Effect::Release])
    }

    /// Whether what is left behind goes on as a session.
    fn goes_on(&self) -> bool {
        self.background == Background::Session && self.stopped.is_none() && self.gone.is_none()
    }

    /// What goes on ends by itself, is stopped, or may not go on; while nobody was there to go on, it is looked again.
    fn go_on(&mut self, timer: bool) -> Vec<Effect> {
        if self.gone.is_some() {
            return self.enter(Phase::Draining, vec![Effect::Arm(Timer::Drain)]);
        }
        if self.stopped.is_some() {
            return self.enter(Phase::Stopping, vec![Effect::Terminate, Effect::Arm(Timer::Grace)]);
        }
        match (self.background, timer) {
            (Background::Session, true) => vec![Effect::GoOn],
            (Background::Session, false) => Vec::new(),
            (Background::Kill | Background::Keep, _) => self.close(),
        }
    }

    /// A process was left behind, or one outside the session holds an output open.
    fn stop_draining(&mut self, open: bool) -> Vec<Effect> {
        if self.goes_on() {
            return self.enter(Phase::GoingOn, vec![Effect::GoOn]);
        }
        self.cut |= open;
        if self.keeps() && self.gone.is_none() {
            return self.release();
        }
        if self.gone.is_some() { self.enter(Phase::Ended, Vec::new()) } else { self.close() }
    }

    fn give_up(&mut self, open: bool) -> Vec<Effect> {
        self.cut |= open;
        self.enter(Phase::Ended, Vec::new())
    }
}

#[cfg(test)]
mod tests;
