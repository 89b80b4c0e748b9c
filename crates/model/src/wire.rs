//! The runner's protocol: frames over a byte stream, descriptors beside them.
//!
//! Each side begins with [`hello`]: eight bytes that name the protocol and its version, and that stay as they are in every
//! version. A side that hears another version ends the connection.
//!
//! Every frame is a little-endian `u32` length and that many bytes of postcard. The server sends [`Order`]s and
//! the runner sends [`Report`]s. An [`Order::Spawn`] travels with as many descriptors as [`Launch::fds`] says, in the
//! order of [`SpawnFd`], attached to the first byte of its frame. Nothing else carries descriptors.

mod launch;

pub use launch::{Launch, Parts, Planned};

use std::ffi::CString;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use thiserror::Error;

use crate::{Abilities, Containment, Ending, LimitHit, SessionId, Signal, Usage};

/// No frame is longer than this. The kernel's own limit on arguments and environment is far below it.
pub const MAX_FRAME: usize = 16 * 1024 * 1024;

/// The version of what follows the hello. It changes with every change of [`Order`] or [`Report`].
pub const VERSION: u32 = 4;

/// What the hello begins with.
const NAME: [u8; 4] = *b"RWRD";

/// How many descriptors travel with a [`Order::Spawn`] at most.
pub const SPAWN_FDS: usize = 7;

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
    /// The file to execute, or the text to read, where it is open already.
    Program = 4,
    /// Over which the listener of its proxy is handed out, where it has one; behind all of the above.
    ProxyListener = 5,
    /// Over which sockets of its network are asked for, where anybody may; always the last.
    Sockets = 6,
}

/// The descriptor by which a program finds the text that it is to read.
pub const TEXT_FD: i32 = 3;

/// What becomes of the descriptor that travels as [`SpawnFd::Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Opened {
    /// It is closed once the program runs.
    Closes,
    /// It stays open: the interpreter of a script reads the script from it.
    Stays,
    /// The program is executed by its path and has this open as [`TEXT_FD`]: a text in sealed memory.
    Read,
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
    /// Look what the session's processes wait for. Answered by [`Report::Probed`], before what later orders bring about.
    Probe {
        /// Which.
        session: SessionId,
    },
    /// Look what there is of the session. Answered by [`Report::Seen`].
    Look {
        /// Which.
        session: SessionId,
        /// An absolute path as the session sees it, to be looked for.
        file: Option<CString>,
    },
    /// Kill what is left of the session. [`Report::Closed`] follows; a session that is gone already is not an error.
    Close {
        /// Which.
        session: SessionId,
    },
    /// No command will run in this workspace any more: what its commands shared goes once the last of them has ended. No
    /// answer.
    Leave {
        /// Which, by the number in the [`Fence`](crate::Fence) of its commands.
        workspace: u64,
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
    /// What was seen of the session's processes when that was ordered.
    Probed {
        /// Which session.
        session: SessionId,
        /// Whether one of them waited to read a terminal, or an input that none of them writes, and nothing else.
        waits_for_input: bool,
    },
    /// What there was of the session when that was ordered.
    Seen {
        /// Which session.
        session: SessionId,
        /// What there was.
        seen: Seen,
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
    /// Of what the session made, this is held back. Comes before the end of the session.
    Held {
        /// Which session.
        session: SessionId,
        /// Where.
        paths: Vec<CString>,
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
            | Report::Probed { session, .. }
            | Report::Held { session, .. }
            | Report::Seen { session, .. }
            | Report::Exited { session, .. }
            | Report::Closed { session, .. } => Some(*session),
        }
    }

    /// Whether nothing more follows about its session.
    pub fn is_last(&self) -> bool {
        matches!(self, Report::Failed { .. } | Report::Closed { .. } | Report::Exited { alone: true, .. })
    }
}

/// What there is of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// How many processes.
    pub processes: u32,
    /// The TCP ports that they listen on, lowest first.
    pub ports: Vec<u16>,
    /// Whether the file that was looked for is there.
    pub file: bool,
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

/// What can be wrong with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// Longer than [`MAX_FRAME`].
    #[error("it takes {0} bytes and at most {MAX_FRAME} can be sent")]
    TooLong(usize),
    /// It begins with something else than a hello.
    #[error("the other end does not speak this protocol: it is another program, or a version before 1")]
    NotOurs,
    /// It speaks another version.
    #[error(
        "the other end speaks version {0} of the protocol, and this program version {VERSION}; start the server anew"
    )]
    Version(u32),
    /// Not what this version speaks.
    #[error("malformed frame")]
    Malformed,
    /// A string for the system holds a NUL byte.
    #[error("string contains a NUL byte")]
    Nul,
}

/// What each side sends before its first frame.
pub fn hello() -> Vec<u8> {
    [NAME, VERSION.to_le_bytes()].concat()
}

/// Takes the other side's hello off the front of `buffer`; `false` when more bytes are needed.
pub fn take_hello(buffer: &mut Vec<u8>) -> Result<bool, WireError> {
    let known = buffer.len().min(NAME.len());
    if buffer.get(..known) != NAME.get(..known) {
        return Err(WireError::NotOurs);
    }
    let Some(version) = buffer.get(4..).and_then(<[u8]>::first_chunk::<4>) else { return Ok(false) };
    match u32::from_le_bytes(*version) {
        VERSION => {
            buffer.drain(..hello().len());
            Ok(true)
        }
        other => Err(WireError::Version(other)),
    }
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
    fn a_hello_is_taken_once_all_of_it_is_there() {
        let mut buffer = Vec::new();
        for byte in hello() {
            assert_eq!(take_hello(&mut buffer), Ok(false));
            buffer.push(byte);
        }
        buffer.push(7);
        assert_eq!(take_hello(&mut buffer), Ok(true));
        assert_eq!(buffer, [7]);
    }

    #[test]
    fn another_version_and_another_protocol_are_told_apart() {
        let mut newer = hello();
        newer[4] += 1;
        assert_eq!(take_hello(&mut newer), Err(WireError::Version(VERSION + 1)));
        let frame = encode(&Order::Close { session: SessionId(1) }).unwrap();
        assert_eq!(take_hello(&mut frame.clone()), Err(WireError::NotOurs));
    }

    #[test]
    fn an_order_that_is_too_long_says_how_long_it_is() {
        let long = vec![b'x'; MAX_FRAME];
        let launch = launch::tests::sample(&[&long], &[]).unwrap();
        let error = encode(&Order::Spawn { session: SessionId(1), launch }).unwrap_err();
        assert!(matches!(error, WireError::TooLong(length) if length > MAX_FRAME), "{error}");
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
