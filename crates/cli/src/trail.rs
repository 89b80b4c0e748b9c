//! The audit trail that the settings mean.

use runward_audit::Trail;
use runward_files::private;

use crate::config::{Audit, Place};
use crate::state::State;

/// The name of the file in the state directory.
const FILE: &str = "audit.db";

/// The trail, with nothing opened or made yet.
pub(crate) fn open(audit: &Audit) -> Trail {
    let trail = match &audit.place {
        Place::Named(path) => Trail::at(path),
        Place::Usual => in_state(&State::of_this_user()),
    };
    trail.with_durability(audit.durability).keeping(audit.retention())
}

/// The same for a server, whose operator should know where it is when that is nowhere to stay.
pub(crate) fn open_to_write(audit: &Audit) -> Trail {
    let trail = open(audit);
    if audit.place == Place::Usual && matches!(State::of_this_user(), State::Temporary(_)) {
        tracing::warn!(path = %trail.path().display(), "there is no home directory to write to, so the audit trail is among temporary files; set RUNWARD_AUDIT_PATH to keep it");
    }
    trail
}

/// Anybody may have made a directory of that name among temporary files.
fn in_state(state: &State) -> Trail {
    let trail = Trail::at(state.path().join(FILE));
    match state {
        State::Lasting(_) => trail,
        State::Temporary(_) => trail.in_private_directory_of(private::user()),
    }
}
