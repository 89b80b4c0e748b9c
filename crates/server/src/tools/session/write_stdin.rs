//! `write_stdin`: goes on with a command that `exec_command` left running.

use std::time::Duration;

use runward_model::{Caller, Signal, Size};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::{Act, Limits, Tool, running};
use super::exec_command::{LONGEST, SHORTEST};
use super::portion::WaitArguments;
use super::{Attention, SessionArgument, Touch, encode};
use crate::arguments::{Arguments, BadArgument, Decoder};

/// How long a call that only asks for news waits at least.
const SHORTEST_POLL: Duration = Duration::from_secs(5);

pub(in super::super) const TOOL: Tool = Tool {
    name: "write_stdin",
    title: "Go on with a session",
    description: "Write to a running session and get what it prints. Without chars: wait for more output.",
    alternatives: &[],
    annotations: running::annotations,
    output: Some(encode::schema),
    act: Act::Attend(Decoder::of::<WriteStdin>()),
};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct WriteStdin {
    #[serde(flatten)]
    which: SessionArgument,
    /// What to write, newlines included; \u0003 is ^C, \u0004 ends the input of a terminal.
    chars: Option<String>,
    /// Send this to the foreground.
    signal: Option<SignalName>,
    /// End the input.
    #[serde(default)]
    close_stdin: bool,
    /// New size of the terminal.
    resize: Option<Size>,
    /// Milliseconds to wait for the end before replying with what there is.
    #[serde(default = "a_moment")]
    yield_time_ms: u64,
    #[serde(flatten)]
    showing: WaitArguments,
}

/// The signals that can be sent.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum SignalName {
    Int,
    Term,
    Kill,
    Hup,
    Quit,
    Usr1,
    Usr2,
}

impl From<SignalName> for Signal {
    fn from(name: SignalName) -> Self {
        match name {
            SignalName::Int => Signal::INT,
            SignalName::Term => Signal::TERM,
            SignalName::Kill => Signal::KILL,
            SignalName::Hup => Signal::HUP,
            SignalName::Quit => Signal(3),
            SignalName::Usr1 => Signal(10),
            SignalName::Usr2 => Signal(12),
        }
    }
}

const fn a_moment() -> u64 {
    250
}

impl Arguments for WriteStdin {
    type Meaning = Attention;

    fn decode(self, _: &Caller, limits: &Limits) -> Result<Attention, BadArgument> {
        let touch = Touch {
            chars: self.chars.unwrap_or_default(),
            signal: self.signal.map(Signal::from),
            resize: self.resize,
            closes: self.close_stdin,
        };
        let bounds = if touch.is_none() {
            (SHORTEST_POLL, limits.longest_poll.max(SHORTEST_POLL))
        } else {
            (SHORTEST, LONGEST)
        };
        let (wait, portion) = self.showing.within(self.yield_time_ms, bounds, limits)?;
        Ok(Attention { session: self.which.id(), touch, wait, portion })
    }
}
