//! What a command leaves behind, and how that goes on as a session of its client.

use runward_model::{LeftBehind, Outcome, Principal, Request};

use crate::Engine;
use crate::denied::{complaints, denied};
use crate::exhausted::complained_of;
use crate::lifecycle::Background;
use crate::network::Unreached;
use crate::room::Place;
use crate::running::Running;
use crate::session::Session;
use crate::watch::Watch;

/// Lets what a command leaves behind go on.
pub(crate) struct Leaving {
    engine: Engine,
    principal: Principal,
    watch: Watch,
    session: Session,
    running: Running,
    unreached: Unreached,
    /// Its place among those that may run, or that are kept.
    place: Place,
}

impl Leaving {
    pub(crate) fn new(
        engine: &Engine,
        request: &Request,
        (session, watch): (&Session, Watch),
        unreached: Unreached,
        (running, place): (Running, Place),
    ) -> Self {
        let (engine, principal) = (engine.clone(), request.caller.principal.clone());
        let session = session.watch();
        Leaving { engine, principal, watch, session, running, unreached, place }
    }

    /// What becomes of what is left behind: where nobody could come back to that, it is ended.
    pub(crate) fn background(&self) -> Background {
        let comes_back = !self.principal.is_any_client() && !matches!(self.watch, Watch::Events { .. });
        match self.engine.0.settings.background {
            Background::Session if !comes_back => Background::Kill,
            chosen => chosen,
        }
    }

    /// Makes a session of so many processes, which its client finds from now on, and tells whoever waits for the command that
    /// it has ended; `false` where there is no room for another session.
    pub(crate) fn go_on(&mut self, mut outcome: Outcome, processes: u32) -> bool {
        let running = &self.running;
        outcome.tree.left = Some(LeftBehind { processes, session: self.session.id() });
        let (said, limits) = (complaints(&outcome, &running.log), &self.engine.0.settings.limits);
        outcome.limit_hit = complained_of(&outcome, limits, &said);
        outcome.denied = denied(&running.receipt, &outcome, &running.log, &self.unreached, &[]);
        if let Watch::Call = self.watch {
            let Some(place) = self.engine.0.kept_room.free_place() else { return false };
            // Another command may run before the answer goes out.
            self.place = place;
            self.engine.adopt_told(&self.principal, &self.session);
        }
        running.goes_on(outcome);
        true
    }

    /// Gives its place back.
    pub(crate) fn make_room(self) -> Running {
        self.running
    }
}
