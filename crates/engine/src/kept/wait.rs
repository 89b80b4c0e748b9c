//! When to look at a kept session again.

use std::time::Duration;

use regex::{Regex, RegexBuilder};
use tokio::time::Instant;

use crate::log::{EventLog, Mark, Piece};

use super::ready::{self, Ready};
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
    /// Once all of this holds; then the end of its command is no reason, as long as anything that it left behind may get ready.
    pub ready: Vec<Ready>,
}

/// Why it is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// It has ended.
    End,
    /// It is ready.
    Ready,
    /// It printed what it should, or nothing for long enough.
    Print,
    /// The time is up.
    Time,
}

/// Something to wait for in what a session prints, as its caller is shown that.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    shown: fn(&str) -> String,
}

impl Pattern {
    /// Text as it is, or a regular expression between slashes; `shown` makes of an output what a caller is shown of it.
    pub fn parse(text: &str, shown: fn(&str) -> String) -> Result<Self, String> {
        /// A pattern that takes more memory than this is refused.
        const LARGEST: usize = 1 << 20;
        let inner =
            text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|inner| !inner.is_empty());
        let pattern = inner.map_or_else(|| literal(text), str::to_owned);
        let built = RegexBuilder::new(&pattern).size_limit(LARGEST).multi_line(true).crlf(true).build();
        built.map(|regex| Pattern { regex, shown }).map_err(|error| error.to_string())
    }

    fn is_in(&self, printed: &[u8]) -> bool {
        self.regex.is_match(&(self.shown)(&String::from_utf8_lossy(printed)))
    }
}

/// Blanks at the end of a line may not be shown, so that the end of the line stands for those at the end of a text.
fn literal(text: &str) -> String {
    let inked = text.trim_end_matches(' ');
    if inked.is_empty() || inked.len() == text.len() {
        return regex::escape(text);
    }
    format!("{}(?:{}| *$)", regex::escape(inked), regex::escape(text.get(inked.len()..).unwrap_or_default()))
}

/// Waits until the session has ended, or there is another reason to look at it.
pub(super) async fn wait(entry: &Entry, wait: &Wait) -> Met {
    let deadline = Instant::now() + wait.longest;
    let (mut news, log) = (entry.session.log().watch(), entry.session.log().clone());
    let mut scan = Scan::new(entry.mark());
    let mut last = Instant::now();
    let (is_ready, is_over) = (ready::wait(&entry.session, &wait.ready), is_over(entry, wait));
    tokio::pin!(is_ready, is_over);
    loop {
        if wait.until.as_ref().is_some_and(|pattern| scan.finds(pattern, &log)) {
            return Met::Print;
        }
        let quiet = wait.quiet.map_or(deadline, |quiet| deadline.min(last + quiet));
        tokio::select! {
            () = &mut is_ready => return Met::Ready,
            () = &mut is_over => return Met::End,
            () = tokio::time::sleep_until(quiet) => {
                return if quiet == deadline { Met::Time } else { Met::Print };
            }
            // Without another reason, news need nobody's attention.
            changed = news.changed(), if wait.until.is_some() || wait.quiet.is_some() => {
                if changed.is_err() {
                    return Met::End;
                }
                last = Instant::now();
            }
        }
    }
}

async fn is_over(entry: &Entry, wait: &Wait) {
    if wait.ready.is_empty() {
        entry.has_news().await;
    } else {
        entry.session.watch().over().await;
    }
}

/// How far output has been looked at.
pub(super) struct Scan {
    start: Mark,
    looked_at: u64,
}

impl Scan {
    pub(super) fn new(start: Mark) -> Self {
        Scan { start, looked_at: start.position }
    }

    /// Whether the pattern is in what is new, with some of what came before it.
    pub(super) fn finds(&mut self, pattern: &Pattern, log: &EventLog) -> bool {
        let from = self.looked_at.saturating_sub(OVERLAP).max(self.start.position);
        let known = usize::try_from(self.looked_at.saturating_sub(from)).unwrap_or(usize::MAX);
        let pieces = log.read_from(from);
        let mut text = Vec::new();
        for piece in pieces {
            if let Piece::Bytes { at, data, .. } = piece {
                self.looked_at = self.looked_at.max(at + data.len() as u64);
                text.extend_from_slice(&data);
            }
        }
        let begin =
            if from > self.start.position { line_start(text.get(..known).unwrap_or(&text)) } else { 0 };
        pattern.is_in(text.get(begin..).unwrap_or_default())
    }
}

/// Where the first line begins that is whole, so that no sequence is read from its middle; 0 where none is.
fn line_start(known: &[u8]) -> usize {
    let after = |end: u8| known.iter().position(|byte| *byte == end).map(|at| at + 1);
    after(b'\n').or_else(|| after(b'\r')).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use runward_model::Stream;

    use super::*;

    fn upper(text: &str) -> String {
        text.to_uppercase()
    }

    fn found(text: &str, prints: &[&str]) -> Vec<bool> {
        let (log, mut scan) = (EventLog::new(1 << 20), Scan::new(Mark::default()));
        let pattern = Pattern::parse(text, upper).expect("a pattern");
        let look = |printed: &&str| {
            log.append(Stream::Stdout, printed.as_bytes());
            scan.finds(&pattern, &log)
        };
        prints.iter().map(look).collect()
    }

    #[test]
    fn what_is_shown_is_looked_through_and_not_what_was_printed() {
        assert_eq!(found("ready", &["ready\n"]), [false]);
        assert_eq!(found("READY", &["rea", "dy\n"]), [false, true]);
        assert_eq!(found("/^READY$/", &["not yet\n", "ready\n"]), [false, true]);
    }

    #[test]
    fn a_match_may_begin_in_what_was_looked_at_before() {
        let long = "x".repeat(10_000);
        assert_eq!(found("XA B", &[&long, "\n", &long, "a ", "b"]), [false, false, false, false, true]);
    }

    #[test]
    fn blanks_at_the_end_of_a_text_are_those_at_the_end_of_a_line() {
        assert_eq!(found(">>> ", &[">>>"]), [true]);
        assert_eq!(found(">>> ", &[">>>>"]), [true]);
        assert_eq!(found(">>> ", &[">>>x"]), [false]);
        assert_eq!(found("  ", &["x"]), [false]);
    }
}
