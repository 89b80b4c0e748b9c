//! What a caller that asked for progress hears while its command runs.

use std::future::pending;

use runward_engine::Session;

use super::heartbeat::Heartbeat;
use super::live::Live;
use super::outlet::Progress;
use crate::tools::Telling;

/// What a caller hears while its command runs.
#[derive(Debug)]
pub(super) enum Teller {
    /// It did not ask.
    Silent,
    /// That it is alive.
    Heartbeat(Heartbeat),
    /// What it prints.
    Live(Live),
}

impl Teller {
    pub(super) fn new(telling: Telling, progress: Option<Progress>, session: &Session) -> Self {
        match (progress, telling) {
            (None, _) => Teller::Silent,
            (Some(progress), Telling::Heartbeat) => Teller::Heartbeat(Heartbeat::new(progress)),
            (Some(progress), Telling::Output) => Teller::Live(Live::new(progress, session.log().clone())),
        }
    }

    /// Ends when there is something to tell. May be dropped and asked again.
    pub(super) async fn due(&mut self) {
        match self {
            Teller::Silent => pending().await,
            Teller::Heartbeat(heartbeat) => heartbeat.due().await,
            Teller::Live(live) => live.due().await,
        }
    }

    /// Tells it, without waiting.
    pub(super) fn tell(&mut self, session: &Session) {
        match self {
            Teller::Silent => {}
            Teller::Heartbeat(heartbeat) => heartbeat.beat(session.printed()),
            Teller::Live(live) => live.tell(),
        }
    }

    /// Waits until what was told is out.
    pub(super) async fn finish(&mut self) {
        match self {
            Teller::Silent => {}
            Teller::Heartbeat(heartbeat) => heartbeat.finish().await,
            Teller::Live(live) => live.finish().await,
        }
    }
}
