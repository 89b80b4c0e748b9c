//! The end of a command as a YAML mapping, written straight into one string.
//!
//! Every output parses back to exactly the same text, by YAML 1.1 and 1.2 parsers alike.

mod scalar;
mod text;

use std::sync::Arc;

use std::fmt::Write as _;

use runward_model::{Captured, Ending, Outcome, StopReason, Stream, View};

use scalar::Scalar;
use text::Text;

use crate::tools::share;

/// More than everything beside the outputs takes.
const ROOM_FOR_NOTES: usize = 1024;

/// How much of the outputs is shown, and who has the rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// How many bytes both outputs may take together, as they are written.
    pub(crate) budget: usize,
    /// The tool that reads what is left out, if there is one.
    pub(crate) reader: Option<&'static str>,
    /// The tool whose commands go on, if there is one.
    pub(crate) keeper: Option<&'static str>,
}

/// The mapping: `exit_code`, `stdout`, `stderr`, then what else there is to know.
pub(crate) fn reply(view: &View, showing: Room) -> String {
    let [stdout, stderr] = fitting(&view.stdout, &view.stderr, showing.budget);
    let (stdout_scalar, stderr_scalar) = (Scalar::of(&stdout), Scalar::of(&stderr));
    let room = stdout_scalar.size() + stderr_scalar.size() + ROOM_FOR_NOTES;

    let mut out = String::with_capacity(room);
    let _ = writeln!(out, "exit_code: {}", view.outcome.exit_code());
    out.push_str("stdout: ");
    stdout_scalar.write(&mut out);
    out.push_str("stderr: ");
    stderr_scalar.write(&mut out);
    ending(&mut out, &view.outcome);
    missing(&mut out, &stdout, &stderr);
    rest(&mut out, &stdout, &stderr, showing);
    leftovers(&mut out, &view.outcome, showing);
    sandbox(&mut out, view);
    kept(&mut out, view);
    out
}

/// Two outputs as a reply shows them, for programs that test the format.
pub fn sample(stdout: Vec<u8>, stderr: Vec<u8>) -> String {
    let captured = |head| Captured { head, missing: 0, tail: Vec::new() };
    let outcome = Outcome::of(Ending::Exited(0));
    let view = View {
        receipt: Arc::default(),
        outcome,
        stdout: captured(stdout),
        stderr: captured(stderr),
        output_note: None,
    };
    reply(&view, Room { budget: usize::MAX, reader: None, keeper: None })
}

/// What both outputs are so far, as entries of a mapping, and whether that is all of them.
pub(crate) fn outputs(stdout: &Captured, stderr: &Captured, showing: Room) -> String {
    let [stdout, stderr] = fitting(stdout, stderr, showing.budget);
    let mut out = String::from("stdout: ");
    Scalar::of(&stdout).write(&mut out);
    out.push_str("stderr: ");
    Scalar::of(&stderr).write(&mut out);
    missing(&mut out, &stdout, &stderr);
    rest(&mut out, &stdout, &stderr, showing);
    out
}

/// Both outputs within a budget, which they share.
fn fitting<'a>(stdout: &'a Captured, stderr: &'a Captured, budget: usize) -> [Text<'a>; 2] {
    let texts = [stdout, stderr].map(Text::of);
    let [first, second] = texts.each_ref().map(|text| Scalar::of(text).size());
    if first.saturating_add(second) <= budget {
        return texts;
    }
    let (for_stdout, for_stderr) = share(budget, first, second);
    [fits(stdout, for_stdout), fits(stderr, for_stderr)]
}

/// As much of both ends as takes `room` when it is written: an escaped character takes more than it is.
fn fits(captured: &Captured, room: usize) -> Text<'_> {
    let mut most = room;
    loop {
        let text = Text::within(captured, most);
        let size = Scalar::of(&text).size();
        if size <= room || most == 0 {
            return text;
        }
        most = most.saturating_mul(room).checked_div(size).unwrap_or_default().min(most - 1);
    }
}

fn ending(out: &mut String, outcome: &Outcome) {
    if let Ending::Signaled(signal) = outcome.ending {
        entry(out, "signal", &signal.to_string());
    }
    if let Some(reason) = outcome.stopped {
        entry(out, "error", &reason.to_string());
    } else if outcome.ending == Ending::Lost {
        entry(out, "error", &sentences(Outcome::LOST));
    }
    if let Some(limit) = outcome.limit_hit {
        entry(out, "limit", &limit.to_string());
    }
    if let Some(StopReason::TimedOut(_)) = outcome.stopped {
        entry(
            out,
            "hint",
            "It may have waited for input. Give it input, or a larger timeout_ms if it needs longer",
        );
    }
}

fn missing(out: &mut String, stdout: &Text<'_>, stderr: &Text<'_>) {
    let texts = [(Stream::Stdout, stdout), (Stream::Stderr, stderr)];
    for (stream, text) in texts.iter().filter(|(_, text)| text.missing() > 0) {
        let _ = writeln!(out, "{}_missing_bytes: {}", stream.name(), text.missing());
    }
    let invalid: Vec<_> =
        texts.iter().filter(|(_, text)| text.is_lossy()).map(|(stream, _)| stream.name()).collect();
    if !invalid.is_empty() {
        let _ = writeln!(out, "invalid_utf8: [{}]", invalid.join(", "));
    }
}

/// How to get what is not shown.
fn rest(out: &mut String, stdout: &Text<'_>, stderr: &Text<'_>, showing: Room) {
    if let Some(reader) = showing.reader.filter(|_| stdout.missing() + stderr.missing() > 0) {
        entry(
            out,
            "rest",
            &format!("Call {reader} with this output_id, it pages and searches the whole output"),
        );
    }
}

fn leftovers(out: &mut String, outcome: &Outcome, showing: Room) {
    if let Some(words) = outcome.tree.left_in_words() {
        entry(out, "background", &words);
        if let Some(keeper) =
            showing.keeper.filter(|_| outcome.stopped.is_none() && outcome.tree.left.is_none())
        {
            entry(out, "hint", &format!("Start it with {keeper}, without an ampersand, to have it go on"));
        }
    }
    let something_was_ended = outcome.tree.ended > 0 || outcome.stopped.is_some();
    if something_was_ended && outcome.tree.containment.is_best_effort() {
        entry(out, "containment", "best effort, a process that forks fast enough may have escaped");
    }
    if !outcome.tree.survivors.is_empty() {
        let pids: Vec<_> = outcome.tree.survivors.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "survivors: [{}]", pids.join(", "));
    }
    if outcome.output_cut {
        entry(
            out,
            "note",
            "Something still held the output open after the end, so some of it may be missing",
        );
    }
}

/// What the sandbox refused, and what it does not keep.
fn sandbox(out: &mut String, view: &View) {
    if let Some(note) = crate::tools::sandbox_note(&view.receipt, &view.outcome) {
        let note = Captured { head: note.into_bytes(), ..Captured::default() };
        out.push_str("sandbox: ");
        Scalar::of(&Text::of(&note)).write(out);
    }
}

/// Where the whole output is, and why it is not whole.
fn kept(out: &mut String, view: &View) {
    if let Some(note) = &view.output_note {
        entry(out, "output_note", note);
    }
    if let Some(id) = &view.receipt.output {
        entry(out, "output_id", &id.0);
    }
}

/// Half-sentences as sentences, since a plain scalar here has no semicolon.
fn sentences(words: &str) -> String {
    let capital =
        |half: &str| half.get(..1).unwrap_or_default().to_uppercase() + half.get(1..).unwrap_or_default();
    words.split("; ").map(capital).collect::<Vec<_>>().join(". ")
}

/// One entry in words of our own, which are plain scalars: letters, digits, spaces and inner punctuation.
fn entry(out: &mut String, key: &str, words: &str) {
    debug_assert!(
        words.chars().all(|letter| letter.is_ascii_alphanumeric() || " ,._-".contains(letter)),
        "not plain: {words}"
    );
    let _ = writeln!(out, "{key}: {words}");
}

#[cfg(test)]
mod tests;
