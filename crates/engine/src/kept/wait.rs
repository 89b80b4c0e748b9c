//! When to look at a kept session again.

use std::time::Duration;

use regex::bytes::{Regex, RegexBuilder};
use tokio::time::Instant;

use crate::log::{EventLog, Mark, Piece};

use super::table::Entry;

/// A match may begin in what was looked at before: so many bytes of it are looked at again.
const OVERLAP: u64 = 4096;

/// When to look at a session again. Its end is always a reason.
#[derive(Clone, Debug)]
pub struct Wait {
    /// At the latest.
    pub longest: Duration,
    /// Once this was printed.
    pub until: Option<Pattern>,
    /// Once nothing was printed for so long.
    pub quiet: Option<Duration>,
}

/// Something to wait for in what a session prints.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// Text as it is, or a regular expression between slashes.
    pub fn parse(text: &str) -> Result<Self, String> {
        /// A pattern that takes more memory than this is refused.
        const LARGEST: usize = 1 << 20;
        let inner =
            text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|inner| !inner.is_empty());
        let pattern = inner.map_or_else(|| regex::escape(text), str::to_owned);
        let built = RegexBuilder::new(&pattern).size_limit(LARGEST).multi_line(true).crlf(true).build();
        built.map(Pattern).map_err(|error| error.to_string())
    }
}

/// Waits until the session has ended, or there is another reason to look at it.
pub(super) async fn wait(entry: &Entry, wait: &Wait) {
    let deadline = Instant::now() + wait.longest;
    let mut session = entry.session.watch();
    let (mut news, log) = (entry.session.log().watch(), entry.session.log().clone());
    let mut scan = Scan::new(entry.mark());
    let mut last = Instant::now();
    loop {
        if wait.until.as_ref().is_some_and(|pattern| scan.finds(pattern, &log)) {
            return;
        }
        let quiet = wait.quiet.map_or(deadline, |quiet| deadline.min(last + quiet));
        tokio::select! {
            _ = session.over() => return,
            () = tokio::time::sleep_until(quiet) => return,
            // Without another reason, news need nobody's attention.
            changed = news.changed(), if wait.until.is_some() || wait.quiet.is_some() => {
                if changed.is_err() {
                    return;
                }
                last = Instant::now();
            }
        }
    }
}

/// How far output has been looked at.
struct Scan {
    start: Mark,
    looked_at: u64,
}

impl Scan {
    fn new(start: Mark) -> Self {
        Scan { start, looked_at: start.position }
    }

    /// Whether the pattern is in what is new, with some of what came before it.
    fn finds(&mut self, Pattern(pattern): &Pattern, log: &EventLog) -> bool {
        let from = self.looked_at.saturating_sub(OVERLAP).max(self.start.position);
        let pieces = log.read_from(from);
        let mut text = Vec::new();
        for piece in pieces {
            if let Piece::Bytes { at, data, .. } = piece {
                self.looked_at = self.looked_at.max(at + data.len() as u64);
                text.extend_from_slice(&data);
            }
        }
        pattern.is_match(&text)
    }
}
