//! Tells a waiting caller what its command prints, as it prints it.
//!
//! Output is gathered for a tenth of a second and read from the session's log, never from the command: what a slow
//! caller does not take in time is passed over and counted.

use std::sync::Arc;
use std::time::Duration;

use runward_engine::{EventLog, Piece};
use runward_model::Stream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::heartbeat::words;
use super::outlet::{Outlet, Progress};
use crate::clean::{clean, complete};

/// At most ten notes a second.
const APART: Duration = Duration::from_millis(100);

/// How much of the newest output one note carries.
const MOST: usize = 4096;

/// The notes of one call.
#[derive(Debug)]
pub(super) struct Live {
    outlet: Outlet,
    log: Arc<EventLog>,
    position: watch::Receiver<u64>,
    started: Instant,
    /// When the last note was sent.
    last: Instant,
    every: Duration,
    reader: Reader,
}

impl Live {
    /// Starts to listen now.
    pub(super) fn new(progress: Progress, log: Arc<EventLog>) -> Self {
        let (started, every, position) = (Instant::now(), progress.every, log.watch());
        let outlet = Outlet::new(progress);
        Live { outlet, log, position, started, last: started, every, reader: Reader::default() }
    }

    /// Ends when there is something to tell, or nothing was told for long, and the note before is out. May be dropped
    /// and asked again.
    pub(super) async fn due(&mut self) {
        self.outlet.sent().await;
        sleep_until(self.last + APART).await;
        let read = self.reader.position;
        let news = async {
            if self.position.wait_for(|position| *position > read).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = news => {}
            () = sleep_until(self.last + self.every) => {}
        }
    }

    /// Begins to send what is new.
    pub(super) fn tell(&mut self) {
        let printed = self.log.position();
        let news = self.reader.read(&self.log, printed);
        let elapsed = self.started.elapsed();
        let is_overdue = self.last.elapsed() >= self.every;
        self.last = Instant::now();
        match news {
            Some(text) => self.outlet.send(elapsed.as_secs_f64(), text),
            None if is_overdue => self.outlet.send(elapsed.as_secs_f64(), words(elapsed, printed)),
            None => {}
        }
    }

    /// Waits until the last note is out.
    pub(super) async fn finish(&mut self) {
        self.outlet.finish().await;
    }
}

/// What was read of a log, and the ends of both outputs that are still to be completed.
#[derive(Debug, Default)]
struct Reader {
    position: u64,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Reader {
    /// The text that came since the last time, in order; its end, when it is long.
    fn read(&mut self, log: &EventLog, printed: u64) -> Option<String> {
        let from = self.position.max(printed.saturating_sub(MOST as u64));
        let skipped = from - self.position;
        if skipped > 0 {
            self.stdout.clear();
            self.stderr.clear();
        }
        let mut text = String::new();
        for piece in log.read_from(from) {
            let Piece::Bytes { at, stream, mut data } = piece else { continue };
            // What came after the count belongs to the next note.
            data.truncate(usize::try_from(printed.saturating_sub(at)).unwrap_or(usize::MAX));
            text.push_str(&self.readable(stream, data));
        }
        self.position = printed;
        let text = clean(&text);
        match skipped {
            0 => (!text.is_empty()).then_some(text),
            skipped => Some(format!("... {skipped} bytes skipped ...\n{text}")),
        }
    }

    fn readable(&mut self, stream: Stream, data: Vec<u8>) -> String {
        let begun = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let mut bytes = std::mem::take(begun);
        bytes.extend(data);
        *begun = bytes.split_off(complete(&bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(reader: &mut Reader, log: &EventLog) -> Option<String> {
        reader.read(log, log.position())
    }

    #[test]
    fn news_are_told_once_and_in_order() {
        let (log, mut reader) = (EventLog::new(1 << 20), Reader::default());
        log.append(Stream::Stdout, b"one\n");
        log.append(Stream::Stderr, b"two\n");
        log.append(Stream::Stdout, b"three\n");
        assert_eq!(news(&mut reader, &log).as_deref(), Some("one\ntwo\nthree\n"));
        assert_eq!(news(&mut reader, &log), None);
        log.append(Stream::Stdout, b"four");
        assert_eq!(news(&mut reader, &log).as_deref(), Some("four"));
    }

    #[test]
    fn what_is_torn_apart_is_told_when_it_is_whole() {
        let (log, mut reader) = (EventLog::new(1 << 20), Reader::default());
        log.append(Stream::Stdout, b"a\xE2\x82");
        log.append(Stream::Stderr, b"\x1b[3");
        assert_eq!(news(&mut reader, &log).as_deref(), Some("a"));
        log.append(Stream::Stderr, b"1mred");
        log.append(Stream::Stdout, b"\xAC\x1b[0m!");
        assert_eq!(news(&mut reader, &log).as_deref(), Some("red€!"));
    }

    #[test]
    fn of_a_flood_the_end_is_told_and_the_rest_is_counted() {
        let (log, mut reader) = (EventLog::new(1 << 20), Reader::default());
        log.append(Stream::Stdout, "x".repeat(100_000).as_bytes());
        let text = news(&mut reader, &log).expect("news");
        assert_eq!(text, format!("... {} bytes skipped ...\n{}", 100_000 - MOST, "x".repeat(MOST)));
    }

    #[test]
    fn what_comes_while_a_note_is_made_is_left_for_the_next() {
        let (log, mut reader) = (EventLog::new(1 << 20), Reader::default());
        log.append(Stream::Stdout, b"onetwo");
        assert_eq!(reader.read(&log, 3).as_deref(), Some("one"));
        assert_eq!(news(&mut reader, &log).as_deref(), Some("two"));
    }
}
