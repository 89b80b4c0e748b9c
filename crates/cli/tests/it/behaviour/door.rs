//! A door, as far as the suite has to know it.

use std::time::Duration;

use runward_testkit::puppet;

use crate::reply::Reply;

/// A door with everything behind it; dropping it shuts all of that down.
pub(super) trait Door {
    /// Starts a call.
    fn begin(&mut self, ask: &Ask) -> CallId;

    /// Waits for what comes of it.
    fn finish(&mut self, call: CallId) -> Reply;

    /// Takes it back.
    fn cancel(&mut self, call: CallId);

    /// Goes away in the middle of it.
    fn vanish(&mut self, call: CallId);

    /// Tells whatever is behind the door to stop, and waits until it has.
    fn shut_down(&mut self);

    /// Kills the server in a way that it cannot notice.
    fn kill(&mut self);

    /// The most memory that the server ever had, in KiB.
    fn peak_memory_kib(&mut self) -> u64;

    /// Calls and waits.
    fn call(&mut self, ask: &Ask) -> Reply {
        let call = self.begin(ask);
        self.finish(call)
    }
}

/// Which call, at this door.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CallId(pub(super) u64);

/// Opens a door.
pub(super) type Open = fn(&Setup) -> Box<dyn Door>;

/// What the server behind a door is told at start.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) allowed: String,
}

impl Setup {
    /// Only the puppet may run.
    pub(super) fn puppet() -> Self {
        Setup { allowed: puppet().to_str().unwrap().to_owned() }
    }
}

/// A program to run.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) file: String,
    pub(super) args: Vec<String>,
    pub(super) cwd: Option<String>,
    pub(super) input: Option<String>,
    pub(super) timeout: Duration,
}

/// The puppet with these verbs.
pub(super) fn ask(verbs: &[&str]) -> Ask {
    let args = verbs.iter().map(ToString::to_string).collect();
    let file = puppet().to_str().unwrap().to_owned();
    Ask { file, args, cwd: None, input: None, timeout: Duration::from_mins(1) }
}
