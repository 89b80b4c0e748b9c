//! The runner's protocol: frames over a byte stream, descriptors beside them.
//!
//! Every frame is a little-endian `u32` length and that many bytes of postcard. The server sends [`Order`]s and
//! the runner sends [`Report`]s. An [`Order::Spawn`] travels with as many descriptors as [`Launch::fds`] says, in the
//! order of [`SpawnFd`], attached to the first byte of its frame. Nothing else carries descriptors.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use thiserror::Error;

use crate::{Abilities, Containment, Ending, Fence, LimitHit, Limits, Network, SessionId, Signal, Usage};

/// No frame is longer than this. The kernel's own limit on arguments and environment is far below it.
pub const MAX_FRAME: usize = 16 * 1024 * 1024;

/// How many descriptors travel with a [`Order::Spawn`] at most.
pub const SPAWN_FDS: usize = 6;

/// Which descriptor is which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum SpawnFd {
    /// The directory to enter.
    Cwd = 0,
    /// Becomes descriptor 0.
    Stdin = 1,
    /// Becomes descriptor 1.
    Stdout = 2,
    /// Becomes descriptor 2.
    Stderr = 3,
    /// The file to execute, where it is open already.
    Program = 4,
    /// Over which the listener of its proxy is handed out, where it has one; always the last.
    Outlet = 5,
}

/// What becomes of the descriptor of a program that is executed by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Opened {
    /// It is closed once the program runs.
    Closes,
    /// It stays open: the interpreter of a script reads the script from it.
    Stays,
}

/// What the server asks of the runner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Start a session. Answered by [`Report::Started`] or [`Report::Failed`].
    Spawn {
        /// Its id; the server never uses one twice.
        session: SessionId,
        /// What to execute.
        launch: Launch,
    },
    /// Send a signal to every process of the session. No answer; an ended session is not an error.
    Signal {
        /// Which.
        session: SessionId,
        /// What to send.
        signal: Signal,
    },
    /// Send a signal to the process group of the session's first process, as a terminal would. No answer.
    SignalGroup {
        /// Which.
        session: SessionId,
        /// What to send.
        signal: Signal,
    },
    /// Kill what is left of the session. [`Report::Closed`] follows; a session that is gone already is not an error.
    Close {
        /// Which.
        session: SessionId,
    },
}

/// What the runner tells the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// The first report: what holds the trees of this runner together.
    Ready {
        /// The strongest that works on this host.
        containment: Containment,
        /// The directory of the runner's control group, so that a server can end its trees should the runner be killed.
        cgroup: Option<String>,
        /// What commands can be confined by on this host.
        abilities: Abilities,
    },
    /// The session's first process executes its program.
    Started {
        /// Which session.
        session: SessionId,
        /// Its process id as the runner sees it.
        pid: i32,
    },
    /// Nothing was started.
    Failed {
        /// Which session.
        session: SessionId,
        /// At which step.
        step: Step,
        /// The system's error number.
        errno: i32,
    },
    /// The session's first process has ended. Others may still run and hold its outputs open.
    Exited {
        /// Which session.
        session: SessionId,
        /// How.
        ending: Ending,
        /// What it used.
        usage: Usage,
        /// The limit that it ran into, where the kernel tells.
        hit: Option<LimitHit>,
        /// Whether it was the last of its session. If so the session is gone and no [`Report::Closed`] follows.
        alone: bool,
    },
    /// The session is gone: by itself, or as ordered. Sent once, after [`Report::Exited`].
    Closed {
        /// Which session.
        session: SessionId,
        /// How many processes had to be killed.
        ended: u32,
        /// Which ones could not be.
        survivors: Vec<i32>,
    },
}

impl Report {
    /// Which session it is about, if any.
    pub fn session(&self) -> Option<SessionId> {
        match self {
            Report::Ready { .. } => None,
            Report::Started { session, .. }
            | Report::Failed { session, .. }
            | Report::Exited { session, .. }
            | Report::Closed { session, .. } => Some(*session),
        }
    }

    /// Whether nothing more follows about its session.
    pub fn is_last(&self) -> bool {
        matches!(self, Report::Failed { .. } | Report::Closed { .. } | Report::Exited { alone: true, .. })
    }
}

/// A step between clone and exec, for errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Making the containment.
    Contain,
    /// Applying a limit.
    Limit,
    /// Making the process.
    Clone,
    /// Entering the directory.
    Cwd,
    /// Putting the descriptors in place.
    Stdio,
    /// Confining it.
    Confine,
    /// Executing the program.
    Exec,
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
}

impl Launch {
    /// Fails when a string holds a NUL byte.
    pub fn new<'a>(
        program: &'a [u8],
        argv: impl IntoIterator<Item = &'a [u8]>,
        env: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Self, WireError> {
        let strings = Vec::with_capacity(4096);
        let limits = Limits::default();
        let (on_terminal, fence, opened) = (false, None, None);
        let mut launch = Launch { strings, argc: 0, envc: 0, limits, on_terminal, fence, opened };
        launch.push(program)?;
        for arg in argv {
            launch.push(arg)?;
            launch.argc += 1;
        }
        for variable in env {
            launch.push(variable)?;
            launch.envc += 1;
        }
        Ok(launch)
    }

    /// The same, held to these limits.
    #[must_use]
    pub fn limited(self, limits: Limits) -> Self {
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
        always + usize::from(self.opened.is_some()) + usize::from(self.has_proxy())
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

    /// The same, confined.
    #[must_use]
    pub fn fenced(self, fence: Option<Fence>) -> Self {
        Launch { fence: fence.map(Box::new), ..self }
    }

    /// What it is confined to, if it is.
    pub fn fence(&self) -> Option<&Fence> {
        self.fence.as_deref()
    }

    /// How much it may use.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    fn push(&mut self, string: &[u8]) -> Result<(), WireError> {
        if string.contains(&0) {
            return Err(WireError::Nul);
        }
        self.strings.extend_from_slice(string);
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

/// What can be wrong with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// Longer than [`MAX_FRAME`].
    #[error("frame of {0} bytes is over the limit")]
    TooLong(usize),
    /// Not what this version speaks.
    #[error("malformed frame")]
    Malformed,
    /// A string for the system holds a NUL byte.
    #[error("string contains a NUL byte")]
    Nul,
}

/// One frame, length first.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, WireError> {
    let frame = postcard::to_extend(message, vec![0; 4]).map_err(|_| WireError::Malformed)?;
    frame_with_length(frame)
}

fn frame_with_length(mut frame: Vec<u8>) -> Result<Vec<u8>, WireError> {
    let length = frame.len() - 4;
    let Ok(header) = u32::try_from(length) else { return Err(WireError::TooLong(length)) };
    if length > MAX_FRAME {
        return Err(WireError::TooLong(length));
    }
    frame[..4].copy_from_slice(&header.to_le_bytes());
    Ok(frame)
}

/// Takes one whole frame off the front of `buffer`; `None` when more bytes are needed.
pub fn decode<T: DeserializeOwned>(buffer: &mut Vec<u8>) -> Result<Option<T>, WireError> {
    let Some(header) = buffer.first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_le_bytes(*header) as usize;
    if length > MAX_FRAME {
        return Err(WireError::TooLong(length));
    }
    let Some(body) = buffer.get(4..4 + length) else { return Ok(None) };
    let message = postcard::from_bytes(body).map_err(|_| WireError::Malformed)?;
    buffer.drain(..4 + length);
    Ok(Some(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_comes_apart_as_it_was_put_together() {
        let argv: [&[u8]; 3] = [b"ls", b"", b"-l"];
        let launch = Launch::new(b"/bin/ls", argv, [&b"A=1"[..]]).unwrap();
        let parts = launch.parts().unwrap();
        assert_eq!(parts.program, b"/bin/ls\0");
        assert_eq!(parts.argv, [&b"ls\0"[..], b"\0", b"-l\0"]);
        assert_eq!(parts.env, [&b"A=1\0"[..]]);
    }

    #[test]
    fn a_nul_is_refused() {
        assert_eq!(Launch::new(b"/bin/ls", [&b"a\0b"[..]], []), Err(WireError::Nul));
    }

    #[test]
    fn counts_that_do_not_fit_the_strings_are_refused() {
        let launch = Launch::new(b"/bin/ls", [&b"ls"[..]], []).unwrap();
        let launch = Launch { argc: 2, ..launch };
        assert_eq!(launch.parts(), Err(WireError::Malformed));
    }

    proptest::proptest! {
        #[test]
        fn frames_survive_any_cut(session: u64, signal: i32, cut in 0usize..20) {
            let order = Order::Signal { session: SessionId(session), signal: Signal(signal) };
            let frame = encode(&order).unwrap();
            let cut = cut.min(frame.len());
            let mut buffer = frame[..cut].to_vec();
            if cut < frame.len() {
                proptest::prop_assert_eq!(decode::<Order>(&mut buffer).unwrap(), None);
            }
            buffer.extend_from_slice(&frame[cut..]);
            proptest::prop_assert_eq!(decode::<Order>(&mut buffer).unwrap(), Some(order));
            proptest::prop_assert!(buffer.is_empty());
        }

        #[test]
        fn bytes_that_are_no_frame_never_panic(mut bytes: Vec<u8>) {
            while let Ok(Some(_)) = decode::<Order>(&mut bytes) {}
        }
    }
}
