//! The engine against a machine that a test plays: every order of reports, output and failures, on a clock that stands.

mod confining;
mod disconnecting;
mod ending;
mod failing;
mod reading;

use runward_engine::{Conversation, Engine, Session, Settings, Watch};
use runward_model::Request;
use runward_testkit::{ScriptedCommand, ScriptedHost, Spawned};

use crate::setup::{settings, start};

/// An engine, and what is started on it.
struct Play {
    engine: Engine,
    spawned: Spawned,
}

impl Play {
    fn new() -> Self {
        Play::with(settings())
    }

    fn with(settings: Settings) -> Self {
        let (engine, _, spawned) = ScriptedHost::engine(settings);
        Play { engine, spawned }
    }

    async fn start(&mut self, request: Request) -> (Session, ScriptedCommand) {
        let session = start(&self.engine, request).await.unwrap();
        (session, self.spawned.next().await)
    }

    async fn watched(&mut self, request: Request, watch: Watch) -> (Session, ScriptedCommand) {
        let session = self.engine.start(request, &Conversation::default(), watch).await.unwrap();
        (session, self.spawned.next().await)
    }
}
