//! Trying what must not work, for real.
//!
//! The same executable under the name [`NAME`] performs every forbidden act, one after the other, and says of each
//! whether it got through. Run unconfined it shows that the acts are real; run confined, that none gets through. All
//! of them stay within the directory that they are given and harm nothing there.

mod files;
mod kernel;
mod network;
mod processes;

use std::io;
use std::path::{Path, PathBuf};

use runward_model::Promise;

/// The name that makes an executable try forbidden acts. Its arguments are those of [`Stage::arguments`].
pub const NAME: &str = "runward-trial";

/// What is said of an act that was done to a cache, and not to the user's own.
pub const LAYERED: &str = "it was done to a layer of the workspace's own";

/// Where acts are tried, set up from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Holds `work` (the workspace), `outside` (with `victim` and `other`), `cache` (with `victim`) and `hidden` (with
    /// `key`, and with the layers of caches).
    pub base: PathBuf,
    /// A process of the same user outside.
    pub victim: i32,
    /// A port of the host's loopback on which somebody listens, for streams and for datagrams.
    pub port: u16,
    /// An abstract socket on which somebody listens.
    pub abstract_name: String,
}

impl Stage {
    /// What a trial is called with.
    pub fn arguments(&self) -> Vec<String> {
        let base = self.base.display().to_string();
        vec![base, self.victim.to_string(), self.port.to_string(), self.abstract_name.clone()]
    }

    fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        Some(Stage {
            base: arguments.next()?.into(),
            victim: arguments.next()?.parse().ok()?,
            port: arguments.next()?.parse().ok()?,
            abstract_name: arguments.next()?,
        })
    }

    /// A cache, or what is in it.
    pub fn cache(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.base.join("cache") } else { self.base.join("cache").join(name) }
    }

    /// Where layers of caches are kept.
    pub fn layers(&self) -> PathBuf {
        self.base.join("hidden/layers")
    }

    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.base.join("work").join(name)
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.base.join("outside").join(name)
    }
}

/// Something that must not work; it returns `Ok` when it did.
pub(crate) type Act = fn(&Stage) -> io::Result<()>;

/// An act, what it is called, and what it would break.
pub(crate) type Entry = (&'static str, Promise, Act);

/// What became of one act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Its name.
    pub act: String,
    /// What it would break.
    pub promise: Promise,
    /// Why it was refused; `None` when it got through.
    pub refused: Option<String>,
}

fn entries() -> Vec<Entry> {
    [files::ACTS, network::ACTS, processes::ACTS, kernel::ACTS].concat()
}

/// How many acts there are.
pub fn count() -> usize {
    entries().len()
}

/// What a trial printed.
pub fn read(output: &str) -> Vec<Tried> {
    let line = |line: &str| {
        let mut fields = line.splitn(3, '\t');
        let (act, result) = (fields.next()?, fields.next()?);
        let (_, promise, _) = entries().into_iter().find(|(name, _, _)| *name == act)?;
        let refused = (result == "refused").then(|| fields.next().unwrap_or_default().to_owned());
        Some(Tried { act: act.to_owned(), promise, refused })
    };
    output.lines().filter_map(line).collect()
}

/// Tries everything when this process was started for that; returns its exit code.
pub fn run_if_called() -> Option<u8> {
    let mut arguments = std::env::args_os();
    let name = arguments.next()?;
    if Path::new(&name).file_name()? != NAME {
        return None;
    }
    let mut arguments = arguments.map(|argument| argument.to_string_lossy().into_owned()).peekable();
    if arguments.peek().is_some_and(|first| first == files::ONE_WRITE) {
        return Some(u8::from(std::fs::write(arguments.nth(1)?, "x").is_err()));
    }
    let Some(stage) = Stage::parse(arguments) else { return Some(2) };
    for (name, _, act) in entries() {
        match act(&stage) {
            Ok(()) => println!("{name}\tgot through"),
            Err(error) => println!("{name}\trefused\t{error}"),
        }
    }
    Some(0)
}

/// The result of a system call.
fn done(result: libc::c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Runs an act in a child of its own, since it may change or end it.
fn apart(act: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let child = crate::fork::fork(0)?;
    if child == 0 {
        let errno = act().map_or_else(|error| error.raw_os_error().unwrap_or(libc::EIO), |()| 0);
        crate::fork::exit(errno);
    }
    match crate::fork::wait(child) {
        Some(0) => Ok(()),
        Some(errno) => Err(io::Error::from_raw_os_error(errno)),
        None => Err(io::Error::other("killed")),
    }
}
