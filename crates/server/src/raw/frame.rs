//! Events as lines of JSON.

use std::io::Write as _;
use std::sync::Arc;

use axum::body::Bytes;
use runward_model::Stream;
use runward_model::stream::{RawEvent, RawLine};

/// What a line needs beyond its data.
const AROUND: usize = 64;

/// An event that is no output.
pub(super) fn event(seq: u64, event: RawEvent<'_>) -> Bytes {
    // What is plain data can be written.
    let line = serde_json::to_value(RawLine { seq, event }).unwrap_or_default();
    format!("{line}\n").into()
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
    struct Shared(Arc<Vec<u8>>);
    impl AsRef<[u8]> for Shared {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    Arc::try_unwrap(line).map_or_else(|line| Bytes::from_owner(Shared(line)), Bytes::from)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use runward_model::{Ending, Outcome, Signal, StopReason};

    use super::*;

    fn exit(seq: u64, ending: Ending, stopped: Option<StopReason>, note: Option<String>) -> Bytes {
        event(seq, RawEvent::end(&Outcome { stopped, ..Outcome::of(ending) }, note))
    }

    #[test]
    fn every_event_is_one_line() {
        let timed_out = Some(StopReason::TimedOut(Duration::from_secs(1)));
        let frames = [
            event(0, RawEvent::Start { session: "ab12".into(), pid: 7 }),
            output(1, Stream::Stdout, b"\x00\xff\n").into(),
            output(2, Stream::Stderr, b"").into(),
            event(3, RawEvent::Gap { stream: Stream::Stderr, bytes: 5 }),
            exit(4, Ending::Exited(3), None, None),
            exit(5, Ending::Signaled(Signal::KILL), None, Some("refused".into())),
            exit(6, Ending::Signaled(Signal::TERM), timed_out, None),
            exit(7, Ending::Lost, None, None),
        ];
        insta::assert_snapshot!(
            frames.iter().map(|frame| String::from_utf8_lossy(frame)).collect::<String>()
        );
    }
}
