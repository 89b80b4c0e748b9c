//! `read_output`: pages and searches what a command printed.

use std::fmt::Write as _;
use std::time::Duration;

use regex::bytes::{Regex, RegexBuilder};
use rmcp::model::ToolAnnotations;
use runward_engine::{Line, Output, Page, Selection};
use runward_model::{Caller, OutputId, Stream};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Act, Found, Limits, Query, Reply, Tool};
use crate::arguments::{Arguments, BadArgument, Decoder};

/// The most lines that one page shows.
const MOST: u64 = 2000;

/// The most bytes that one page shows.
const MOST_BYTES: u64 = 64 * 1024;

/// A pattern that takes more memory than this when compiled is refused.
const PATTERN: usize = 1 << 20;

/// The longest wait for the end of a command: less than the patience of most clients.
const WAIT_MS: u64 = 50_000;

pub(super) const TOOL: Tool = Tool {
    name: "read_output",
    title: "Read what a command printed",
    description: "Page through or search the whole output of a command, running or ended, with line numbers.",
    alternatives: &[],
    annotations,
    output: None,
    act: Act::Read(Decoder::of::<ReadOutput>()),
};

fn annotations() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).open_world(false)
}

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct ReadOutput {
    /// From the reply of the run.
    #[schemars(length(min = 1))]
    output_id: String,
    /// Which output.
    #[serde(default = "stdout")]
    stream: Stream,
    /// First line, match (grep) or byte (base64).
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = u64::MAX >> 12))]
    offset: u64,
    /// Lines to show at most; bytes with base64.
    #[serde(default = "some_lines")]
    #[schemars(range(min = 1, max = MOST_BYTES))]
    limit: u64,
    /// Show only lines that match this regular expression.
    #[schemars(length(min = 1))]
    grep: Option<String>,
    /// This many last lines instead.
    #[serde(default)]
    #[schemars(range(max = MOST))]
    tail: u64,
    /// Exact bytes instead of lines.
    #[serde(default)]
    base64: bool,
    /// Wait so long for its end first.
    #[serde(default)]
    #[schemars(range(max = WAIT_MS))]
    wait_ms: u64,
}

const fn stdout() -> Stream {
    Stream::Stdout
}

const fn one() -> u64 {
    1
}

const fn some_lines() -> u64 {
    200
}

impl Arguments for ReadOutput {
    type Meaning = Query;

    fn decode(self, _: &Caller, _: &Limits) -> Result<Query, BadArgument> {
        let (first, limit, lines) = (self.offset, self.limit, self.limit.min(MOST));
        let wrong = |what: &str| Err(BadArgument::Contradiction(what.to_owned()));
        let selection = match (self.grep, self.tail) {
            (Some(_), 1..) => return wrong("grep and tail exclude each other; give one of them"),
            (None, 0) if self.base64 => Selection::Bytes { first, limit },
            _ if self.base64 => return wrong("base64 shows bytes and excludes grep and tail"),
            (Some(grep), 0) => Selection::Matching { pattern: pattern(&grep)?, first, limit: lines },
            (None, 0) => Selection::From { first, limit: lines },
            (None, tail) => Selection::Last(tail),
        };
        Ok(Query {
            output: OutputId(self.output_id),
            stream: self.stream,
            selection,
            wait: Duration::from_millis(self.wait_ms),
        })
    }
}

fn pattern(text: &str) -> Result<Regex, BadArgument> {
    let built = RegexBuilder::new(text).size_limit(PATTERN).build();
    built.map_err(|error| BadArgument::Contradiction(format!("grep is not a regular expression: {error}")))
}

/// Some lines, with what to know of them.
pub(crate) fn page(found: &Found<'_>) -> Reply {
    let Found { output, stream, page } = found;
    let mut text = format!("{} of output {}: {}\n", stream.name(), output.id(), state(output));
    let _ = writeln!(text, "{}", size(page));
    if let Some(raw) = &page.raw {
        let _ = writeln!(text, "{}", base64_simd::STANDARD.encode_to_string(raw));
    }
    for line in &page.lines {
        show(&mut text, line);
    }
    notes(&mut text, output, page);
    Reply::ran(text)
}

fn state(output: &Output) -> String {
    match output.outcome() {
        None => format!("still running (session_id {})", output.session()),
        Some(outcome) => match outcome.stopped {
            None => format!("ended, exit_code {}", outcome.exit_code()),
            Some(reason) => format!("ended, exit_code {} ({reason})", outcome.exit_code()),
        },
    }
}

fn size(page: &Page) -> String {
    if let Some(raw) = &page.raw {
        return format!("{} of {} bytes, in base64", raw.len(), page.bytes);
    }
    let whole = format!("{} lines, {} bytes", page.total, page.bytes);
    match page.matches {
        Some(matches) => format!("{matches} matches in {whole}"),
        None => whole,
    }
}

fn show(text: &mut String, line: &Line) {
    let _ = write!(text, "{:>6}\t{}", line.number, String::from_utf8_lossy(&line.bytes));
    if line.cut > 0 {
        let _ = write!(text, " [{} more bytes]", line.cut);
    }
    text.push('\n');
}

fn notes(text: &mut String, output: &Output, page: &Page) {
    if let Some(next) = page.next {
        let _ = writeln!(text, "[more: offset {next}]");
    }
    if page.missing > 0 {
        let why = output.note().unwrap_or_else(|| "they were not kept".into());
        let _ = writeln!(text, "[{} bytes after these are missing: {why}]", page.missing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::USUAL_LIMITS;
    use runward_model::{Door, Principal};
    use serde_json::{Value, json};

    fn query(arguments: Value) -> Result<Query, String> {
        let caller = Caller::new(Door::named("read_output"), Principal::local());
        let read = Decoder::of::<ReadOutput>().read(&USUAL_LIMITS, &caller, arguments);
        read.map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn without_more_words_the_first_lines_of_stdout_are_meant() {
        let query = query(json!({"output_id": "a1"})).expect("is right");
        assert_eq!((query.output.0.as_str(), query.stream), ("a1", Stream::Stdout));
        assert!(matches!(query.selection, Selection::From { first: 1, limit: 200 }));
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let both = query(json!({"output_id": "a1", "grep": "x", "tail": 3})).expect_err("both");
        assert_eq!(both, "grep and tail exclude each other; give one of them");
        let broken = query(json!({"output_id": "a1", "grep": "("})).expect_err("broken");
        assert!(broken.starts_with("grep is not a regular expression: "), "{broken}");
        let stream = query(json!({"output_id": "a1", "stream": "both"})).expect_err("unknown");
        assert_eq!(stream, "stream must be one of stdout, stderr, got \"both\"");
        let lines = query(json!({"output_id": "a1", "base64": true, "tail": 3})).expect_err("both");
        assert_eq!(lines, "base64 shows bytes and excludes grep and tail");
    }
}
