//! What stands between a session's outputs and its log: secrets are taken out, wherever the pieces are cut.

use std::sync::Arc;

use runward_audit::redact::{Redactor, Secrets};
use runward_model::Stream;

use crate::log::EventLog;

/// The way into a log. What a redactor still holds back goes in when an output ends, or when this is dropped.
pub(crate) struct RedactingSink {
    log: Arc<EventLog>,
    /// `None` when there is nothing to look for, so that most output is not even looked at.
    redactors: Option<[Redactor; 2]>,
}

impl RedactingSink {
    pub(crate) fn new(log: Arc<EventLog>, secrets: &Secrets) -> Self {
        let redactors =
            (!secrets.is_empty()).then(|| [secrets, secrets].map(|all| Redactor::new(all.clone())));
        RedactingSink { log, redactors }
    }

    /// The log behind it.
    pub(crate) fn log(&self) -> &EventLog {
        &self.log
    }

    /// Takes what an output has printed.
    pub(crate) fn append(&mut self, stream: Stream, bytes: &[u8]) {
        match &mut self.redactors {
            Some(redactors) => self.log.append(stream, &of(redactors, stream).push(bytes)),
            None => self.log.append(stream, bytes),
        }
    }

    /// An output is at its end.
    pub(crate) fn end(&mut self, stream: Stream) {
        let Some(redactors) = &mut self.redactors else { return };
        let held = of(redactors, stream).finish();
        if !held.is_empty() {
            self.log.append(stream, &held);
        }
    }
}

impl Drop for RedactingSink {
    fn drop(&mut self) {
        for stream in Stream::BOTH {
            self.end(stream);
        }
    }
}

fn of(redactors: &mut [Redactor; 2], stream: Stream) -> &mut Redactor {
    let [stdout, stderr] = redactors;
    match stream {
        Stream::Stdout => stdout,
        Stream::Stderr => stderr,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_taken_out_wherever_it_is_cut() {
        let secrets = Secrets::new(["hunter2hunter2"]).unwrap();
        for cut in 0..14 {
            let log = Arc::new(EventLog::new(1000));
            let mut sink = RedactingSink::new(log.clone(), &secrets);
            let printed = b"is hunter2hunter2 it? hunter";
            sink.append(Stream::Stdout, &printed[..cut]);
            sink.append(Stream::Stdout, &printed[cut..]);
            drop(sink);
            let seen = String::from_utf8(log.captured(Stream::Stdout).head).unwrap();
            assert_eq!(seen, format!("is {} it? hunter", runward_audit::redact::MARK));
        }
    }
}
