//! When to reply and how much to show: parameters that the session tools share.

use std::time::Duration;

use runward_engine::{Pattern, Wait};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Limits;
use crate::arguments::{BadArgument, Setting};
use crate::clean::clean;

/// What a model counts as one token.
pub(super) const TOKEN: usize = 4;

/// How much of an output to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portion {
    /// At most so many tokens.
    pub(super) tokens: usize,
    /// How many bytes of it the structured content shows.
    second: usize,
    /// Whether programs are told of each output by itself too.
    pub(super) separate: bool,
}

impl Portion {
    /// At most what the operator allows.
    pub(super) fn of(tokens: u64, separate: bool, limits: &Limits) -> Self {
        let most = limits.reply_tokens.min(limits.first_form() / TOKEN);
        let tokens = usize::try_from(tokens).unwrap_or(usize::MAX).min(most);
        Portion { tokens, second: limits.second_form(), separate }
    }

    /// What the structured content shows of an output of which the text shows so many bytes: all of that where it is
    /// short, else half of what a second form may have, so that each stream by itself has a quarter.
    pub(super) fn structured(self, shown: usize) -> Portion {
        let most = match (shown <= self.second, self.separate) {
            (true, _) => return self,
            (false, true) => self.second / 2,
            (false, false) => self.second,
        };
        Portion { tokens: self.tokens.min(most / TOKEN), ..self }
    }

    /// The same for one stream by itself.
    pub(super) fn of_one_stream(self, shown: usize) -> Portion {
        let portion = self.structured(shown);
        if shown <= self.second { portion } else { Portion { tokens: portion.tokens / 2, ..portion } }
    }

    /// How many bytes of both ends are worth fetching.
    pub(crate) fn bytes(self) -> usize {
        self.tokens.saturating_mul(TOKEN)
    }
}

/// What else ends the wait, and how much to show.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct WaitArguments {
    /// Reply as soon as new output, as shown, holds this text or matches this /regex/.
    #[schemars(length(min = 1))]
    yield_until: Option<String>,
    /// Reply as soon as nothing was printed for so long; 0: no.
    #[serde(default)]
    yield_idle_ms: u64,
    /// Show at most so many tokens of output, from both ends.
    #[schemars(extend("setting" = Setting::ReplyTokens))]
    max_output_tokens: u64,
    /// Also give stdout and stderr each by itself.
    #[serde(default)]
    separate_streams: bool,
}

impl WaitArguments {
    /// When to reply at the latest after `yield_time_ms`, within these bounds, and how much to show.
    pub(super) fn within(
        self,
        yield_time_ms: u64,
        (least, most): (Duration, Duration),
        limits: &Limits,
    ) -> Result<(Wait, Portion), BadArgument> {
        let longest = Duration::from_millis(yield_time_ms).clamp(least, most);
        let quiet = Some(Duration::from_millis(self.yield_idle_ms)).filter(|quiet| !quiet.is_zero());
        let until = self.yield_until.map(|text| Pattern::parse(&text, clean)).transpose();
        let until = until
            .map_err(|error| BadArgument::Contradiction(format!("yield_until is no pattern: {error}")))?;
        let portion = Portion::of(self.max_output_tokens, self.separate_streams, limits);
        Ok((Wait { longest, until, quiet, ready: Vec::new() }, portion))
    }
}
