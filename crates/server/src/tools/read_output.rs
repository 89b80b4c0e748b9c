//! `read_output`: pages and searches what a command printed.

use std::fmt::Write as _;
use std::time::Duration;

use regex::bytes::{Regex, RegexBuilder};
use rmcp::model::ToolAnnotations;
use runward_engine::{Line, Output, Page, Selection};
use runward_model::{OutputId, Stream};

use super::{Act, Found, Limits, Query, Read, Reply, Tool};
use crate::params::{Given, Kind, Need, Param};

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
    alternative: None,
    annotations,
    params,
    output: None,
    act: Act::Read(Read { decode, encode }),
};

fn annotations() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).open_world(false)
}

fn params(_: &Limits) -> Vec<Param> {
    let param = |name, kind, description| Param { name, kind, need: Need::Optional, description };
    vec![
        Param { need: Need::Required, ..param("output_id", Kind::Word, "From the reply of the run.") },
        param("stream", Kind::Choice(&["stdout", "stderr"]), "Which output."),
        param(
            "offset",
            Kind::Integer { min: 1, max: u64::MAX >> 12, default: 1 },
            "First line, match (grep) or byte (base64).",
        ),
        param(
            "limit",
            Kind::Integer { min: 1, max: MOST_BYTES, default: 200 },
            "Lines to show at most; bytes with base64.",
        ),
        param("grep", Kind::Word, "Show only lines that match this regular expression."),
        param("tail", Kind::Integer { min: 0, max: MOST, default: 0 }, "This many last lines instead."),
        param("base64", Kind::Switch, "Exact bytes instead of lines."),
        param(
            "wait_ms",
            Kind::Integer { min: 0, max: WAIT_MS, default: 0 },
            "Wait so long for its end first.",
        ),
    ]
}

fn decode(mut given: Given) -> Result<Query, String> {
    let (first, limit) = (given.integer("offset"), given.integer("limit"));
    let lines = limit.min(MOST);
    let exact = given.switch("base64");
    let selection = match (given.text("grep"), given.integer("tail")) {
        (Some(_), 1..) => return Err("grep and tail exclude each other; give one of them".into()),
        (None, 0) if exact => Selection::Bytes { first, limit },
        _ if exact => return Err("base64 shows bytes and excludes grep and tail".into()),
        (Some(grep), 0) => Selection::Matching { pattern: pattern(&grep)?, first, limit: lines },
        (None, 0) => Selection::From { first, limit: lines },
        (None, tail) => Selection::Last(tail),
    };
    Ok(Query {
        output: OutputId(given.word("output_id")),
        stream: if given.word("stream") == "stderr" { Stream::Stderr } else { Stream::Stdout },
        selection,
        wait: Duration::from_millis(given.integer("wait_ms")),
    })
}

fn pattern(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).size_limit(PATTERN).build();
    built.map_err(|error| format!("grep is not a regular expression: {error}"))
}

fn encode(found: &Found<'_>) -> Reply {
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
    use crate::params;
    use crate::tools::USUAL_LIMITS;
    use serde_json::{Value, json};

    fn query(arguments: Value) -> Result<Query, String> {
        let Value::Object(arguments) = arguments else { panic!("not an object") };
        params::check(&(TOOL.params)(&USUAL_LIMITS), arguments).and_then(decode)
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
