//! Takes a stream up again that broke.

use std::thread;
use std::time::{Duration, Instant};

use runward_client::{Error, Events, Server};

use crate::exit::Failure;
use crate::setup::RESUME;

/// How long a server may refuse connections before it counts as gone: it takes its commands with it.
const REFUSED: Duration = Duration::from_secs(2);

/// The pauses between tries, which grow, until the server gives a command up.
pub(crate) fn pauses() -> impl Iterator<Item = Duration> {
    let (start, mut pause) = (Instant::now(), Duration::from_millis(25));
    std::iter::from_fn(move || {
        pause = (pause * 2).min(Duration::from_secs(1));
        (start.elapsed() < RESUME).then_some(pause)
    })
}

/// The events from a number on.
pub(crate) fn resume(server: &Server, session: &str, from: u64, lost: &Error) -> Result<Events, Failure> {
    eprintln!("run-remote: {lost}; resuming");
    let start = Instant::now();
    let mut why = String::new();
    for pause in pauses() {
        match server.follow(session, from) {
            Ok(events) => return Ok(events),
            Err(Error::Rejected { message, .. }) => {
                return Err(Failure::lost(format!("the command was lost with the connection: {message}")));
            }
            Err(error) if error.is_refused() && start.elapsed() > REFUSED => {
                return Err(Failure::lost(
                    "the server is gone, and the command with it; nobody listens there now",
                ));
            }
            Err(error) => why = error.to_string(),
        }
        thread::sleep(pause);
    }
    Err(Failure::lost(format!("the connection could not be resumed: {why}; the server ends the command")))
}
