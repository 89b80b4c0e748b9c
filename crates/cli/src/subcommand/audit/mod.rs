//! `runward audit`: what was asked, what was decided, what came of it.

mod ended;
mod export;
mod list;
mod show;
mod verify;
mod words;

use std::io::{self, BufWriter, ErrorKind, StdoutLock};

use runward_audit::{Error, Trail};

use crate::args::{Audit, Common};
use crate::config::Config;
use crate::exit::Exit;
use crate::printable::printable;
use crate::trail;

/// Standard output, written in large pieces.
type Out = BufWriter<StdoutLock<'static>>;

/// Reads the trail that the settings mean, whether or not calls are recorded now.
pub(crate) fn run(action: Audit, common: &Common) -> anyhow::Result<Exit> {
    let config = Config::load(common.config.as_deref(), &common.flags())?;
    crate::log::start(&config.log)?;
    let trail = trail::open(&config.audit);
    let out = BufWriter::new(io::stdout().lock());
    let result = match action {
        Audit::List(list) => list::run(list, &trail, out),
        Audit::Show(show) => show::run(&show, &trail, out),
        Audit::Verify(verify) => verify::run(&verify, &trail, out),
        Audit::Export(export) => export::run(export, &trail, out),
    };
    result.or_else(quiet_if_nobody_reads)
}

/// Whoever closes our output, as `head` does, has read enough.
fn quiet_if_nobody_reads(error: anyhow::Error) -> anyhow::Result<Exit> {
    let is_closed = |io: &io::Error| io.kind() == ErrorKind::BrokenPipe;
    if error.chain().any(|cause| cause.downcast_ref().is_some_and(is_closed)) {
        return Ok(Exit::Success);
    }
    Err(error)
}

/// Whether there is no trail. One that cannot be looked at is taken to be there: opening it says why.
fn is_missing(trail: &Trail) -> bool {
    trail.path().try_exists().is_ok_and(|there| !there)
}

/// What is said of a trail that is not there.
fn nothing_yet(trail: &Trail) -> String {
    format!("nothing has been recorded yet at {}", place(trail))
}

/// Names records that belong to no call that could be found, since they are no JSON.
fn say_unreadable(trail: &Trail) -> anyhow::Result<Exit> {
    Ok(trail.unreadable()?.iter().fold(Exit::Success, |_, error| say(error)))
}

/// Names a record that cannot be read.
fn say(error: &Error) -> Exit {
    eprintln!("runward: {error}");
    Exit::Failed
}

fn place(trail: &Trail) -> String {
    printable(&trail.path().display().to_string())
}
