//! How a call ran and ended, in words.

use std::io;

use runward_audit::Ended;

use super::show::field;
use super::{Out, words};

/// Writes a line for each thing that is known of it.
pub(super) fn tell(out: &mut Out, ended: &Ended) -> io::Result<()> {
    field(out, "exit", &ended.exit_code.to_string())?;
    ended.signal.iter().try_for_each(|signal| field(out, "signal", signal))?;
    ended.stopped.iter().try_for_each(|reason| field(out, "stopped", reason))?;
    ended.limit_hit.iter().try_for_each(|limit| field(out, "limit", limit))?;
    field(out, "duration", &words::duration(ended.duration))?;
    let (user, system) = (words::duration(ended.cpu_user), words::duration(ended.cpu_system));
    field(out, "cpu", &format!("{user} user, {system} system"))?;
    field(out, "memory", &format!("{} KiB", ended.max_rss_kib))?;
    for (label, output) in [("stdout", ended.stdout), ("stderr", ended.stderr)] {
        let left_out =
            if output.truncated > 0 { format!(", {} left out", output.truncated) } else { String::new() };
        field(out, label, &format!("{} bytes{left_out}", output.bytes))?;
    }
    tell_rest(out, ended)
}

/// What is worth a word only where it happened.
fn tell_rest(out: &mut Out, ended: &Ended) -> io::Result<()> {
    if ended.output_cut {
        field(out, "cut", "something still held its outputs open when it was given up on")?;
    }
    if ended.ended_after > 0 {
        field(out, "left over", &format!("{} processes, then ended", ended.ended_after))?;
    }
    if !ended.survivors.is_empty() {
        field(out, "survivors", &format!("processes {:?}", ended.survivors))?;
    }
    Ok(())
}
