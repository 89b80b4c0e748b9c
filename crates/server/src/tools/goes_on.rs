//! What a caller is told of a command that goes on without it.

use std::time::Duration;

use runward_model::{Receipt, SessionId};

use super::{Reply, receipt};

/// The reply to a call whose command outlives the caller's patience: the same for every tool.
pub(crate) fn goes_on(session: SessionId, receipt: &Receipt, after: Duration) -> Reply {
    let output = receipt.output.as_ref().map_or("", |id| id.0.as_str());
    let note = format!(
        "still running after {} s; it goes on. Wait for it with read_output (wait_ms), end it with kill_session",
        after.as_secs()
    );
    let fields = rmcp::object!({
        "command": receipt.command,
        "note": note,
        "session_id": session.0,
        "output_id": output,
        "policy": receipt::of_run(receipt),
    });
    Reply::ran(format!("note: {note}\nsession_id: {session}\noutput_id: {output}\n")).structured(fields)
}
