//! What a caller is told of a command that goes on without it.

use runward_engine::Session;
use runward_model::Stream;

use super::output::Both;
use super::{Limits, Reply, receipt};
use crate::yaml::{self, Room};

/// The reply to a call whose command outlives the caller's patience, with what it printed so far: the same for every
/// tool.
pub(crate) fn goes_on(session: &Session, limits: &Limits) -> Reply {
    let (receipt, after, id) = (session.receipt(), limits.patience, session.id());
    let [stdout, stderr] = Stream::BOTH.map(|stream| session.log().captured(stream));
    let output = receipt.output.as_ref().map_or("", |id| id.0.as_str());
    let note = format!(
        "still running after {} s; it goes on. Wait for it with read_output (wait_ms), end it with kill_session",
        after.as_secs()
    );
    let so_far = yaml::outputs(&stdout, &stderr, Room { budget: limits.first_form(), ..limits.room() });
    let shown = Both::of(&stdout, &stderr).within(limits.second_form());
    let fields = rmcp::object!({
        "command": receipt::repeated(&receipt.command),
        "note": note,
        "session_id": id.0,
        "output_id": output,
        "stdout": shown.stdout.text,
        "stderr": shown.stderr.text,
        "policy": receipt::of_run(receipt),
    });
    Reply::ran(format!("note: {note}\nsession_id: {id}\noutput_id: {output}\n{so_far}")).structured(fields)
}
