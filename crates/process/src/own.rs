//! Programs that are started of our own accord. No caller has a say in them, so no policy judges them, and no plan is made.
//!
//! There are two occasions, each with a function and a caller of its own; a test in `cli` fails on a third.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use runward_model::wire::{Launch, Planned, WireError};
use runward_model::{Fence, Limits};

/// A program of our own.
#[derive(Clone, Copy, Debug)]
pub struct OwnProgram<'a> {
    /// The file to execute.
    pub program: &'a Path,
    /// Its arguments, its name first.
    pub argv: &'a [&'a str],
    /// Its environment.
    pub env: &'a [(OsString, OsString)],
    /// How much it may use.
    pub limits: Limits,
    /// What it is confined to, if it is.
    pub fence: Option<&'a Fence>,
}

impl OwnProgram<'_> {
    /// The operator's own shell, to learn what its start-up files make of it.
    pub fn for_login_capture(self) -> Result<Launch, WireError> {
        Launch::new(&Own(self))
    }

    /// `doctor`'s own acts, to learn what this host keeps commands from.
    pub fn for_doctor(self) -> Result<Launch, WireError> {
        Launch::new(&Own(self))
    }
}

/// Keeps others from making a [`Launch`] of an [`OwnProgram`].
struct Own<'a>(OwnProgram<'a>);

impl Planned for Own<'_> {
    fn program(&self) -> &Path {
        self.0.program
    }

    fn argv(&self) -> impl Iterator<Item = &[u8]> {
        self.0.argv.iter().map(|argument| argument.as_bytes())
    }

    fn env(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.env.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    fn limits(&self) -> Limits {
        self.0.limits
    }

    fn fence(&self) -> Option<&Fence> {
        self.0.fence
    }
}
