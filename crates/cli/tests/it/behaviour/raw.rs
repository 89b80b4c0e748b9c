//! The real program behind the streaming endpoint.

use std::collections::HashMap;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::door::{Ask, CallId, Door, Setup};
use crate::raw::server::{Answer, Raw, printed};
use crate::reply::Reply;

struct Streams {
    raw: Raw,
    open: HashMap<CallId, Stream>,
    last: u64,
}

/// A stream that has begun, or the answer that says why not.
struct Stream {
    answer: Answer,
    session: Option<String>,
}

pub(super) fn open(setup: &Setup) -> Box<dyn Door> {
    Box::new(Streams { raw: Raw::allowing(&setup.allowed), open: HashMap::new(), last: 0 })
}

impl Door for Streams {
    fn begin(&mut self, ask: &Ask) -> CallId {
        let timeout_ms = u64::try_from(ask.timeout.as_millis()).unwrap();
        let mut body = json!({ "executable": ask.file, "args": ask.args, "timeout_ms": timeout_ms });
        if let Some(cwd) = &ask.cwd {
            body["cwd"] = json!(cwd);
        }
        if ask.input.is_some() {
            body["stdin"] = json!("stream");
        }
        let mut answer = self.raw.post("/raw", &body);
        let session = (answer.status == 200).then(|| answer.start());
        if let (Some(session), Some(input)) = (&session, &ask.input) {
            let path = format!("/raw/{session}/stdin?end=true");
            assert_eq!(self.raw.send("POST", &path, &[], input.as_bytes()).status, 200);
        }
        self.last += 1;
        self.open.insert(CallId(self.last), Stream { answer, session });
        CallId(self.last)
    }

    fn finish(&mut self, call: CallId) -> Reply {
        let Stream { answer, session } = self.open.remove(&call).unwrap();
        if session.is_some() { reply(&answer.events()) } else { refused(answer) }
    }

    fn cancel(&mut self, call: CallId) {
        let session = self.open[&call].session.as_ref().unwrap();
        assert_eq!(self.raw.send("DELETE", &format!("/raw/{session}"), &[], b"").status, 200);
    }

    fn vanish(&mut self, call: CallId) {
        self.open.remove(&call).unwrap();
    }

    fn shut_down(&mut self) {
        self.raw.server.signal(Signal::TERM);
        assert!(self.raw.server.ended().success());
    }

    fn kill(&mut self) {
        self.raw.server.signal(Signal::KILL);
        self.raw.server.ended();
    }

    fn peak_memory_kib(&mut self) -> u64 {
        self.raw.server.peak_memory_kib()
    }
}

fn refused(answer: Answer) -> Reply {
    let body = answer.json();
    Reply { is_error: true, error: body["error"]["message"].as_str().map(str::to_owned), ..Reply::default() }
}

fn reply(events: &[Value]) -> Reply {
    let end = events.last().unwrap();
    let text = |name: &str| end[name].as_str().map(str::to_owned);
    let signal = text("signal");
    let number = signal
        .as_ref()
        .map(|name| (1..=64).find(|number| runward_model::Signal(*number).to_string() == *name).unwrap());
    let code = number.map_or_else(|| end["exitCode"].as_i64(), |number| Some(i64::from(128 + number)));
    let is_timeout = end["stopped"] == "timeout";
    let outputs = ["stdout", "stderr"].map(|name| (name, printed(events, name)));
    let invalid = outputs.iter().filter(|(_, bytes)| std::str::from_utf8(bytes).is_err());
    let [stdout, stderr] = outputs.each_ref().map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
    Reply {
        is_error: end.get("stopped").is_some(),
        exit_code: if is_timeout { Some(124) } else { code },
        stdout,
        stderr,
        signal,
        error: text("message"),
        missing: 0,
        invalid_utf8: invalid.map(|(name, _)| (*name).to_owned()).collect(),
        background: end["background_ended"].as_u64().map(|count| format!("{count} ended")),
    }
}
