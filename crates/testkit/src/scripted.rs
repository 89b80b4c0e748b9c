//! A machine that runs nothing: a test plays what becomes of each command, in any order.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use runward_engine::{Engine, Host, Pending, Settings, Start};
use runward_model::wire::{Launch, Order, Report, Step};
use runward_model::{Abilities, Containment, Ending, SessionId, Stream, Usage};
use runward_process::{Child, Error, Peers, Relay};
use tokio::sync::mpsc;

/// A machine that runs nothing.
#[derive(Debug)]
pub struct ScriptedHost {
    abilities: Arc<Abilities>,
    peers: Peers,
    next: AtomicU64,
    failure: Mutex<Option<(Step, i32)>>,
    commands: mpsc::UnboundedSender<ScriptedCommand>,
}

/// What an engine was asked to start on it, in order.
#[derive(Debug)]
pub struct Spawned(mpsc::UnboundedReceiver<ScriptedCommand>);

impl Spawned {
    /// The next command.
    pub async fn next(&mut self) -> ScriptedCommand {
        self.0.recv().await.expect("the engine is gone")
    }
}

impl ScriptedHost {
    /// An engine whose commands a test plays.
    pub fn engine(settings: Settings) -> (Engine, Arc<Self>, Spawned) {
        ScriptedHost::engine_with(settings, Abilities::default())
    }

    /// The same where commands could be confined like this.
    pub fn engine_with(settings: Settings, abilities: Abilities) -> (Engine, Arc<Self>, Spawned) {
        let (commands, spawned) = mpsc::unbounded_channel();
        let (abilities, next, failure) = (Arc::new(abilities), AtomicU64::new(1), Mutex::default());
        let host = Arc::new(ScriptedHost { abilities, peers: Peers::default(), next, failure, commands });
        (Engine::with_host(settings, host.clone()), host, Spawned(spawned))
    }

    /// The next command cannot be started, for this error of the system at this step.
    pub fn fails_next(&self, step: Step, errno: i32) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some((step, errno));
    }

    fn started(&self, launch: Launch) -> Result<Child, Error> {
        if let Some((step, errno)) = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(Error::Step { step, source: io::Error::from_raw_os_error(errno) });
        }
        let session = SessionId(self.next.fetch_add(1, Ordering::Relaxed));
        let (child, relay) = Child::relayed(session, 1, Containment::Cgroup);
        let Relay { reports, orders, stdout, stderr, stdin } = relay;
        let outputs = [Some(stdout), Some(stderr)];
        let command = ScriptedCommand { session, launch, orders, stdin, outputs, reports: Some(reports) };
        self.commands.send(command).expect("nobody plays the commands");
        Ok(child)
    }
}

impl Host for ScriptedHost {
    fn abilities(&self) -> Pending<'_, Result<Arc<Abilities>, Error>> {
        Box::pin(async { Ok(self.abilities.clone()) })
    }

    fn spawn(&self, start: Start) -> Pending<'_, Result<Child, Error>> {
        Box::pin(async { self.started(start.launch) })
    }

    fn leave(&self, _workspace: u64) {}

    fn peers(&self) -> &Peers {
        &self.peers
    }

    fn shutdown(&self) -> Pending<'_, ()> {
        Box::pin(async {})
    }
}

/// A command that a test plays.
#[derive(Debug)]
pub struct ScriptedCommand {
    /// Which session it is.
    pub session: SessionId,
    /// What would have been executed.
    pub launch: Launch,
    /// What is asked of it.
    pub orders: mpsc::UnboundedReceiver<Order>,
    /// What is written to it.
    pub stdin: mpsc::Receiver<Vec<u8>>,
    outputs: [Option<mpsc::Sender<Vec<u8>>>; 2],
    reports: Option<mpsc::UnboundedSender<Report>>,
}

impl ScriptedCommand {
    /// Prints; waits while its reader is slow.
    pub async fn print(&self, stream: Stream, text: &[u8]) {
        let output = self.outputs[index(stream)].as_ref().expect("an output that is open");
        let _ = output.send(text.to_vec()).await;
    }

    /// An output is at its end.
    pub fn end_of(&mut self, stream: Stream) {
        self.outputs[index(stream)] = None;
    }

    /// Both outputs are at their end.
    pub fn end_of_outputs(&mut self) {
        self.outputs = [None, None];
    }

    /// Its first process ends with this code and was the last one.
    pub fn exits(&self, code: i32) {
        self.exited(Ending::Exited(code), true);
    }

    /// Its first process ends and leaves others behind.
    pub fn exits_before_others(&self, code: i32) {
        self.exited(Ending::Exited(code), false);
    }

    /// So many that were left have been killed.
    pub fn closed(&self, ended: u32) {
        self.report(Report::Closed { session: self.session, ended, survivors: Vec::new() });
    }

    /// The machine that runs it is gone.
    pub fn is_lost(&mut self) {
        self.reports = None;
    }

    /// The next thing that is asked of it.
    pub async fn order(&mut self) -> Order {
        self.orders.recv().await.expect("nobody can ask for anything any more")
    }

    fn exited(&self, ending: Ending, alone: bool) {
        let (session, usage) = (self.session, Usage::default());
        self.report(Report::Exited { session, ending, usage, hit: None, alone });
    }

    fn report(&self, report: Report) {
        let reports = self.reports.as_ref().expect("a machine that is there");
        let _ = reports.send(report);
    }
}

fn index(stream: Stream) -> usize {
    usize::from(stream == Stream::Stderr)
}
