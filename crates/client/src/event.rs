//! What a server tells of a command, one line each.

use runward_model::Stream;
use runward_model::stream::{Exit, RawEvent, RawLine};

use crate::Error;

/// What a server tells of a command, its output unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// It runs.
    Start {
        /// Its name on the server.
        session: String,
        /// Its first process there.
        pid: i32,
    },
    /// It printed something.
    Output {
        /// Where.
        stream: Stream,
        /// What.
        data: &'a [u8],
    },
    /// It printed something that is no longer there.
    Gap {
        /// Where.
        stream: Stream,
        /// How many bytes.
        bytes: u64,
    },
    /// It has ended.
    Exit(Exit),
    /// It was lost.
    Error(String),
    /// Something that a newer server tells.
    Other,
}

/// Reads a line into an event and its number; `data` is where output is unpacked.
pub(crate) fn read<'a>(line: &[u8], data: &'a mut Vec<u8>) -> Result<(u64, Event<'a>), Error> {
    if let Some((seq, stream, length)) = unpack_usual(line, data) {
        return Ok((seq, Event::Output { stream, data: data.get(..length).unwrap_or_default() }));
    }
    let RawLine { seq, event } = serde_json::from_slice(line)
        .map_err(|error| Error::protocol(format!("a line is no event: {error}")))?;
    let event = match event {
        RawEvent::Stdout { data_b64 } => output(Stream::Stdout, &data_b64, data)?,
        RawEvent::Stderr { data_b64 } => output(Stream::Stderr, &data_b64, data)?,
        RawEvent::Start { session, pid } => Event::Start { session: session.into_owned(), pid },
        RawEvent::Gap { stream, bytes } => Event::Gap { stream, bytes },
        RawEvent::Exit(exit) => Event::Exit(exit),
        RawEvent::Error { message } => Event::Error(message.into_owned()),
        RawEvent::Other => Event::Other,
    };
    Ok((seq, event))
}

/// Output as our own servers write it, without looking at every byte of it twice. Whatever looks different is read as
/// JSON; what is JSON and no base64 does not unpack.
fn unpack_usual(line: &[u8], data: &mut Vec<u8>) -> Option<(u64, Stream, usize)> {
    let rest = line.strip_prefix(b"{\"event\":\"std")?.strip_suffix(b"\"}")?;
    let (stream, rest) = match rest.split_at_checked(3)? {
        (b"out", rest) => (Stream::Stdout, rest),
        (b"err", rest) => (Stream::Stderr, rest),
        _ => return None,
    };
    let rest = rest.strip_prefix(b"\",\"seq\":")?;
    let (number, rest) = rest.split_at_checked(rest.iter().position(|byte| !byte.is_ascii_digit())?)?;
    let text = rest.strip_prefix(b",\"data_b64\":\"")?;
    let seq = std::str::from_utf8(number).ok()?.parse().ok()?;
    Some((seq, stream, unpack(text, data)?))
}

fn output<'a>(stream: Stream, text: &str, data: &'a mut Vec<u8>) -> Result<Event<'a>, Error> {
    let length = unpack(text.as_bytes(), data);
    let length = length.ok_or_else(|| Error::protocol("an event of output lacks its base64"))?;
    Ok(Event::Output { stream, data: data.get(..length).unwrap_or_default() })
}

/// How many bytes a text stands for; they are then at the beginning of `data`.
fn unpack(text: &[u8], data: &mut Vec<u8>) -> Option<usize> {
    // Grows to the largest event and stays so: clearing it would cost as much as unpacking.
    if data.len() < text.len() {
        data.resize(text.len(), 0);
    }
    let room = base64_simd::Out::from_slice(data.as_mut_slice());
    base64_simd::STANDARD.decode(text, room).ok().map(|data| data.len())
}

#[cfg(test)]
mod tests {
    use runward_model::Signal;

    use super::*;

    fn event(line: &str) -> Result<(u64, Event<'static>), Error> {
        read(line.as_bytes(), Box::leak(Box::default()))
    }

    #[test]
    fn every_event_is_read_whatever_the_order_of_its_parts() {
        let start = Event::Start { session: "ab".into(), pid: 7 };
        let gap = Event::Gap { stream: Stream::Stderr, bytes: 9 };
        let cases = [
            (r#"{"event":"start","seq":0,"session":"ab","pid":7}"#, 0, start),
            (
                r#"{"data_b64":"/w==","seq":3,"event":"stderr"}"#,
                3,
                Event::Output { stream: Stream::Stderr, data: b"\xff" },
            ),
            (
                r#"{"event":"stdout","seq":4,"data_b64":""}"#,
                4,
                Event::Output { stream: Stream::Stdout, data: b"" },
            ),
            (r#"{"event":"gap","seq":5,"stream":"stderr","bytes":9}"#, 5, gap),
            (r#"{"event":"error","seq":5,"message":"gone"}"#, 5, Event::Error("gone".into())),
            (r#"{"event":"later","seq":5,"x":[1]}"#, 5, Event::Other),
        ];
        for (line, seq, wanted) in cases {
            assert_eq!(event(line).expect(line), (seq, wanted), "{line}");
        }
    }

    #[test]
    fn an_end_has_a_code_or_a_signal() {
        let (_, code) = event(r#"{"event":"exit","seq":1,"exitCode":3}"#).expect("an event");
        assert_eq!(code, Event::Exit(Exit { code: Some(3), ..Exit::default() }));
        let (_, killed) =
            event(r#"{"event":"exit","seq":1,"exitCode":null,"signal":"SIGKILL"}"#).expect("an event");
        assert_eq!(killed, Event::Exit(Exit { signal: Some(Signal::KILL), ..Exit::default() }));
    }

    #[test]
    fn what_is_no_event_is_an_error_that_says_so() {
        for line in [
            "",
            "{}",
            "<html>",
            r#"{"event":"stdout","seq":1}"#,
            r#"{"event":"stdout","seq":1,"data_b64":"?"}"#,
        ] {
            assert!(matches!(event(line), Err(Error::Protocol(_))), "{line}");
        }
    }
}
