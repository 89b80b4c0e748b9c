//! Whether a program outlives the session that started it.

use runward_model::Fence;
use runward_model::wire::Report;
use runward_process::Spawner;

use super::stage::Set;
use super::start;

/// Leaves a program behind in a session of its own, with nothing that ties it to its parent.
const LEAVE: &str = "(exec </dev/null >/dev/null 2>&1; trap '' HUP TERM; setsid sleep 3133 & ) ; exit 0";

/// What is left of a command that leaves a daemon behind, once its session is closed.
pub(super) async fn survives(
    spawner: &Spawner,
    fence: Option<Fence>,
    set: &Set,
) -> anyhow::Result<Option<String>> {
    let shell = std::ffi::OsStr::new("/bin/sh");
    let words = ["sh", "-c", LEAVE];
    let mut child = start(spawner, shell, &words, fence, set.handle()?).await?;
    loop {
        match child.reports.next().await {
            Report::Exited { alone: true, .. } => return Ok(None),
            Report::Exited { .. } => child.close(),
            Report::Closed { survivors, .. } if survivors.is_empty() => return Ok(None),
            Report::Closed { survivors, .. } => {
                return Ok(Some(format!("{} processes outlived their session", survivors.len())));
            }
            _ => {}
        }
    }
}
