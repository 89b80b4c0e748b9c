//! Events as lines of JSON.

use std::io::Write as _;
use std::sync::Arc;

use axum::body::Bytes;
use runward_model::{Ending, Outcome, StopReason, Stream};
use serde_json::{Map, Value, json};

/// What a line needs beyond its data.
const AROUND: usize = 64;

/// That a command has started.
pub(super) fn start(session: &str, pid: i32) -> Bytes {
    line(&json!({ "event": "start", "seq": 0, "session": session, "pid": pid }))
}

/// What it printed, written straight into the line.
pub(super) fn output(seq: u64, stream: Stream, data: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(AROUND + base64_simd::STANDARD.encoded_length(data.len()));
    let _ = write!(line, "{{\"event\":\"{}\",\"seq\":{seq},\"data_b64\":\"", stream.name());
    base64_simd::STANDARD.encode_append(data, &mut line);
    line.extend_from_slice(b"\"}\n");
    line
}

/// A line that somebody else may have to send again, sent without a copy.
pub(super) fn shared(line: Arc<Vec<u8>>) -> Bytes {
    struct Line(Arc<Vec<u8>>);
    impl AsRef<[u8]> for Line {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    Arc::try_unwrap(line).map_or_else(|line| Bytes::from_owner(Line(line)), Bytes::from)
}

/// That it printed something that could not be kept.
pub(super) fn gap(seq: u64, stream: Stream, bytes: u64) -> Bytes {
    line(&json!({ "event": "gap", "seq": seq, "stream": stream, "bytes": bytes }))
}

/// That nothing more can be told.
pub(super) fn error(seq: u64, message: &str) -> Bytes {
    line(&json!({ "event": "error", "seq": seq, "message": message }))
}

/// How it ended, and what there is to say of its sandbox.
pub(super) fn exit(seq: u64, outcome: &Outcome, note: Option<String>) -> Bytes {
    let (code, signal) = match outcome.ending {
        Ending::Exited(code) => (json!(code), None),
        Ending::Signaled(signal) => (Value::Null, Some(signal.to_string())),
        Ending::Lost => {
            return error(
                seq,
                "nobody saw how it ended, since the runner was killed; its processes were ended",
            );
        }
    };
    let mut fields = Map::new();
    let mut add = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    add("event", json!("exit"));
    add("seq", json!(seq));
    add("exitCode", code);
    if let Some(signal) = signal {
        add("signal", json!(signal));
    }
    if let Some(reason) = outcome.stopped {
        add("stopped", json!(word(reason)));
        add("message", json!(reason.to_string()));
    }
    if outcome.tree.ended > 0 {
        add("background_ended", json!(outcome.tree.ended));
    }
    if outcome.output_cut {
        add("output_cut", json!(true));
    }
    if let Some(note) = note {
        add("sandbox", json!(note));
    }
    line(&Value::Object(fields))
}

const fn word(reason: StopReason) -> &'static str {
    match reason {
        StopReason::TimedOut(_) => "timeout",
        StopReason::Cancelled => "cancelled",
        StopReason::Evicted => "evicted",
        StopReason::Disconnected => "disconnected",
        StopReason::ShuttingDown => "shutting_down",
    }
}

fn line(value: &Value) -> Bytes {
    format!("{value}\n").into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use runward_model::{Signal, Tree, Usage};

    use super::*;

    fn outcome(ending: Ending, stopped: Option<StopReason>) -> Outcome {
        Outcome {
            ending,
            stopped,
            wall: Duration::ZERO,
            usage: Usage::default(),
            tree: Tree::default(),
            limit_hit: None,
            waiting_for_input: false,
            output_cut: false,
            denied: None,
        }
    }

    #[test]
    fn every_event_is_one_line() {
        let timed_out = Some(StopReason::TimedOut(Duration::from_secs(1)));
        let frames = [
            start("ab12", 7),
            output(1, Stream::Stdout, b"\x00\xff\n").into(),
            output(2, Stream::Stderr, b"").into(),
            gap(3, Stream::Stderr, 5),
            exit(4, &outcome(Ending::Exited(3), None), None),
            exit(5, &outcome(Ending::Signaled(Signal::KILL), None), Some("refused".into())),
            exit(6, &outcome(Ending::Signaled(Signal::TERM), timed_out), None),
            exit(7, &outcome(Ending::Lost, None), None),
        ];
        insta::assert_snapshot!(
            frames.iter().map(|frame| String::from_utf8_lossy(frame)).collect::<String>()
        );
    }
}
