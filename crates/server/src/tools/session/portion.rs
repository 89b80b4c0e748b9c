//! When to reply and how much to show: parameters that the session tools share.

use std::time::Duration;

use runward_engine::{Pattern, Wait};

use super::super::Limits;
use crate::params::{Given, Kind, Need, Param};

/// What a model counts as one token.
pub(super) const TOKEN: usize = 4;

/// How much of an output to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portion {
    /// At most so many tokens.
    pub(super) tokens: usize,
    /// Whether programs are told of each output by itself too.
    pub(super) separate: bool,
}

impl Portion {
    /// How many bytes of both ends are worth fetching.
    pub(crate) fn bytes(self) -> usize {
        self.tokens.saturating_mul(TOKEN)
    }
}

/// How long to wait, and how much to show.
pub(super) fn params(default_yield: u64, limits: &Limits) -> [Param; 5] {
    [
        Param {
            name: "yield_time_ms",
            kind: Kind::Whole { default: default_yield },
            need: Need::Optional,
            description: "Milliseconds to wait for the end before replying with what there is.",
        },
        Param {
            name: "yield_until",
            kind: Kind::Word,
            need: Need::Optional,
            description: "Reply as soon as new output holds this text, or matches this /regex/.",
        },
        Param {
            name: "yield_idle_ms",
            kind: Kind::Whole { default: 0 },
            need: Need::Optional,
            description: "Reply as soon as nothing was printed for so long; 0: no.",
        },
        Param {
            name: "max_output_tokens",
            kind: Kind::Whole { default: limits.reply_tokens as u64 },
            need: Need::Optional,
            description: "Show at most so many tokens of output, from both ends.",
        },
        Param {
            name: "separate_streams",
            kind: Kind::Switch,
            need: Need::Optional,
            description: "Also give stdout and stderr each by itself.",
        },
    ]
}

/// When to reply, within these bounds.
pub(super) fn wait(given: &mut Given, least: Duration, most: Duration) -> Result<Wait, String> {
    let asked = Duration::from_millis(given.integer("yield_time_ms"));
    let quiet = Some(Duration::from_millis(given.integer("yield_idle_ms"))).filter(|quiet| !quiet.is_zero());
    let until = given.text("yield_until").map(|text| Pattern::parse(&text)).transpose();
    let until = until.map_err(|error| format!("yield_until is no pattern: {error}"))?;
    Ok(Wait { longest: asked.clamp(least, most), until, quiet })
}

/// How much to show, at most what the operator allows.
pub(super) fn of(given: &Given, limits: &Limits) -> Portion {
    let tokens = usize::try_from(given.integer("max_output_tokens")).unwrap_or(usize::MAX);
    Portion { tokens: tokens.min(limits.reply_tokens), separate: given.switch("separate_streams") }
}
