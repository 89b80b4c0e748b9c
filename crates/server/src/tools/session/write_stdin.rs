//! `write_stdin`: goes on with a command that `exec_command` left running.

use std::time::Duration;

use runward_model::{SessionId, Signal};

use super::super::{Act, Limits, Tool, running};
use super::exec_command::{LONGEST, SHORTEST};
use super::{Attention, Touch, encode, portion};
use crate::params::{Given, Kind, Need, Param};

/// How long a call that only asks for news waits at least.
const SHORTEST_POLL: Duration = Duration::from_secs(5);

/// The signals that can be sent, by name.
const SIGNALS: [(&str, i32); 7] =
    [("INT", 2), ("TERM", 15), ("KILL", 9), ("HUP", 1), ("QUIT", 3), ("USR1", 10), ("USR2", 12)];

pub(in super::super) const TOOL: Tool = Tool {
    name: "write_stdin",
    title: "Go on with a session",
    description: "Write to a running session and get what it prints. Without chars: wait for more output.",
    alternative: None,
    annotations: running::annotations,
    params,
    output: Some(encode::schema),
    act: Act::Attend(decode),
};

/// Which session.
pub(super) fn session_id() -> Param {
    Param {
        name: "session_id",
        kind: Kind::Integer { min: 0, max: u64::MAX >> 12, default: 0 },
        need: Need::Required,
        description: "From the reply.",
    }
}

fn params(limits: &Limits) -> Vec<Param> {
    let own = [
        session_id(),
        Param {
            name: "chars",
            kind: Kind::Text,
            need: Need::Optional,
            description: "What to write, newlines included; \\u0003 is ^C, \\u0004 ends the input of a terminal.",
        },
        Param {
            name: "signal",
            kind: Kind::OneOf(&["INT", "TERM", "KILL", "HUP", "QUIT", "USR1", "USR2"]),
            need: Need::Optional,
            description: "Send this to the foreground.",
        },
        Param {
            name: "close_stdin",
            kind: Kind::Switch,
            need: Need::Optional,
            description: "End the input.",
        },
        Param {
            name: "resize",
            kind: Kind::Size,
            need: Need::Optional,
            description: "New size of the terminal.",
        },
    ];
    own.into_iter().chain(portion::params(250, limits)).collect()
}

fn decode(mut given: Given, limits: &Limits) -> Result<Attention, String> {
    let touch = touch(&mut given);
    let (least, most) = if touch.is_none() {
        (SHORTEST_POLL, limits.longest_poll.max(SHORTEST_POLL))
    } else {
        (SHORTEST, LONGEST)
    };
    Ok(Attention {
        session: SessionId(given.integer("session_id")),
        touch,
        wait: portion::wait(&mut given, least, most)?,
        portion: portion::of(&given, limits),
    })
}

fn touch(given: &mut Given) -> Touch {
    let name = given.text("signal");
    let signal = SIGNALS.iter().find(|(known, _)| name.as_deref() == Some(known));
    Touch {
        chars: given.word("chars"),
        signal: signal.map(|(_, number)| Signal(*number)),
        resize: given.size("resize"),
        closes: given.switch("close_stdin"),
    }
}
