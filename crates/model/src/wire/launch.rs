//! What is executed, as it travels to the runner.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Opened, SpawnFd, WireError};
use crate::{Fence, Limits, Network};

/// What may run: it has been judged, or is a program of our own. A [`Launch`] is made of nothing else, and nothing but a
/// launch can be started.
///
/// The engine's plan implements this, and what is behind `process::OwnProgram`; a test fails on a third.
pub trait Planned {
    /// The file to execute, by its absolute path.
    fn program(&self) -> &Path;

    /// Its arguments, its name first.
    fn argv(&self) -> impl Iterator<Item = &[u8]>;

    /// Its environment.
    fn env(&self) -> impl Iterator<Item = (&OsStr, &OsStr)>;

    /// How much it may use.
    fn limits(&self) -> Limits;

    /// What it is confined to, if it is.
    fn fence(&self) -> Option<&Fence>;
}

/// Exactly what is executed: the program's absolute path, its argv (with name), its environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// NUL-terminated strings one after the other: the program, `argc` arguments, `envc` variables.
    strings: Vec<u8>,
    argc: u32,
    envc: u32,
    limits: Limits,
    on_terminal: bool,
    fence: Option<Box<Fence>>,
    opened: Option<Opened>,
    is_reached: bool,
}

impl Launch {
    /// Fails when a string holds a NUL byte.
    pub fn new(planned: &impl Planned) -> Result<Self, WireError> {
        let (limits, fence) = (planned.limits(), planned.fence().cloned().map(Box::new));
        let strings = Vec::with_capacity(4096);
        let mut launch = Launch {
            strings,
            argc: 0,
            envc: 0,
            limits,
            on_terminal: false,
            fence,
            opened: None,
            is_reached: false,
        };
        launch.push(&[planned.program().as_os_str().as_bytes()])?;
        for arg in planned.argv() {
            launch.push(&[arg])?;
            launch.argc += 1;
        }
        for (name, value) in planned.env() {
            launch.push(&[name.as_bytes(), b"=", value.as_bytes()])?;
            launch.envc += 1;
        }
        Ok(launch)
    }

    /// The same inside a sandbox, where these limits are left to the process.
    #[must_use]
    pub fn inside(self, limits: Limits) -> Self {
        Launch { limits, ..self }
    }

    /// The same, executed by an open descriptor; its path is only told of.
    #[must_use]
    pub fn opened(self, opened: Opened) -> Self {
        Launch { opened: Some(opened), ..self }
    }

    /// How many descriptors travel with it.
    pub fn fds(&self) -> usize {
        let always = SpawnFd::Program as usize;
        always
            + [self.opened.is_some(), self.has_proxy(), self.is_reached()]
                .into_iter()
                .map(usize::from)
                .sum::<usize>()
    }

    /// The same, where the server can reach what it serves in a network of its own.
    #[must_use]
    pub fn reached(self) -> Self {
        Launch { is_reached: true, ..self }
    }

    /// Whether sockets of its own network are handed out to the server.
    pub fn is_reached(&self) -> bool {
        let has_own = |fence: &Fence| fence.network.is_own() && fence.tier.has_namespaces();
        self.is_reached && self.fence.as_deref().is_some_and(has_own)
    }

    /// Whether it reaches the network through a proxy.
    pub fn has_proxy(&self) -> bool {
        self.fence.as_ref().is_some_and(|fence| fence.network == Network::Listed)
    }

    /// The same with descriptor 0 as its controlling terminal.
    #[must_use]
    pub fn on_terminal(self) -> Self {
        Launch { on_terminal: true, ..self }
    }

    /// What it is confined to, if it is.
    pub fn fence(&self) -> Option<&Fence> {
        self.fence.as_deref()
    }

    /// How much it may use.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// One string of several parts.
    fn push(&mut self, parts: &[&[u8]]) -> Result<(), WireError> {
        for part in parts {
            if part.contains(&0) {
                return Err(WireError::Nul);
            }
            self.strings.extend_from_slice(part);
        }
        self.strings.push(0);
        Ok(())
    }

    /// Program, argv and environment, each string with its NUL; fails when the counts do not fit the strings.
    pub fn parts(&self) -> Result<Parts<'_>, WireError> {
        let mut strings = self.strings.split_inclusive(|byte| *byte == 0);
        let program = strings.next().ok_or(WireError::Malformed)?;
        let argv: Vec<&[u8]> = strings.by_ref().take(self.argc as usize).collect();
        let env: Vec<&[u8]> = strings.by_ref().take(self.envc as usize).collect();
        let whole = argv.len() == self.argc as usize && env.len() == self.envc as usize;
        if !whole || strings.next().is_some() || self.strings.last() != Some(&0) {
            return Err(WireError::Malformed);
        }
        Ok(Parts { program, argv, env, on_terminal: self.on_terminal, opened: self.opened })
    }
}

/// A [`Launch`] taken apart; every slice ends with its NUL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts<'a> {
    /// The absolute path to execute.
    pub program: &'a [u8],
    /// Its arguments, its name first.
    pub argv: Vec<&'a [u8]>,
    /// `NAME=value` each.
    pub env: Vec<&'a [u8]>,
    /// Whether descriptor 0 is to be its controlling terminal.
    pub on_terminal: bool,
    /// Whether it is executed by a descriptor, and what becomes of that.
    pub opened: Option<Opened>,
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    struct Sample<'a>(&'a [&'a [u8]], &'a [(&'a str, &'a str)]);

    impl Planned for Sample<'_> {
        fn program(&self) -> &Path {
            Path::new("/bin/ls")
        }

        fn argv(&self) -> impl Iterator<Item = &[u8]> {
            self.0.iter().copied()
        }

        fn env(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
            self.1.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value)))
        }

        fn limits(&self) -> Limits {
            Limits::default()
        }

        fn fence(&self) -> Option<&Fence> {
            None
        }
    }

    /// A launch of `/bin/ls`.
    pub(in crate::wire) fn sample(argv: &[&[u8]], env: &[(&str, &str)]) -> Result<Launch, WireError> {
        Launch::new(&Sample(argv, env))
    }

    #[test]
    fn a_launch_comes_apart_as_it_was_put_together() {
        let argv: [&[u8]; 3] = [b"ls", b"", b"-l"];
        let launch = sample(&argv, &[("A", "1")]).unwrap();
        let parts = launch.parts().unwrap();
        assert_eq!(parts.program, b"/bin/ls\0");
        assert_eq!(parts.argv, [&b"ls\0"[..], b"\0", b"-l\0"]);
        assert_eq!(parts.env, [&b"A=1\0"[..]]);
    }

    #[test]
    fn a_nul_is_refused() {
        assert_eq!(sample(&[b"a\0b"], &[]), Err(WireError::Nul));
    }

    #[test]
    fn counts_that_do_not_fit_the_strings_are_refused() {
        let launch = sample(&[b"ls"], &[]).unwrap();
        let launch = Launch { argc: 2, ..launch };
        assert_eq!(launch.parts(), Err(WireError::Malformed));
    }
}
