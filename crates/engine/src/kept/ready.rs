//! When what a session serves is ready.

use std::ffi::CString;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::wait::{Pattern, Scan};
use crate::log::Mark;
use crate::session::Session;

/// How long after one look comes the next; each time a little later, up to the second.
const AGAIN: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(200));

/// How long an answer may take. A server that has just begun to listen may take its time.
const ANSWER: Duration = Duration::from_secs(5);

/// A status line is not longer.
const STATUS_LINE: u64 = 64;

/// What makes a session ready. Of its own processes alone: what others listen on or answer does not count.
#[derive(Clone, Debug)]
pub enum Ready {
    /// One of them listens on this port.
    Port(u16),
    /// And answers there with this status when it is asked for this path.
    Http {
        /// The port.
        port: u16,
        /// The path, with its query.
        path: String,
        /// The status.
        status: u16,
    },
    /// One of them has printed this.
    Text(Pattern),
    /// They see a file at this absolute path, or below the directory of the command.
    File(PathBuf),
}

impl fmt::Display for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ready::Port(port) => write!(f, "it listens on port {port}"),
            Ready::Http { port, path, status } => write!(f, "{path} on port {port} answers with {status}"),
            Ready::Text(_) => f.write_str("the text was printed"),
            Ready::File(file) => write!(f, "{} is there", file.display()),
        }
    }
}

/// Waits until all of this holds of a session; for ever, where that is nothing.
pub(super) async fn wait(session: &Session, all: &[Ready]) {
    if all.is_empty() {
        std::future::pending::<()>().await;
    }
    for ready in all {
        until(session, ready).await;
    }
}

async fn until(session: &Session, ready: &Ready) {
    let (mut pause, most) = AGAIN;
    match ready {
        Ready::Text(pattern) => printed(session, pattern).await,
        ready => {
            while !is_met(session, ready).await {
                tokio::time::sleep(pause).await;
                pause = most.min(pause * 3 / 2);
            }
        }
    }
}

async fn printed(session: &Session, pattern: &Pattern) {
    let (mut news, mut scan) = (session.log().watch(), Scan::new(Mark::default()));
    while !scan.finds(pattern, session.log()) {
        if news.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

async fn is_met(session: &Session, ready: &Ready) -> bool {
    match ready {
        Ready::Port(port) => listens(session, *port).await,
        Ready::Http { port, path, status } => {
            // Nobody else is asked anything on behalf of a caller.
            listens(session, *port).await
                && tokio::time::timeout(ANSWER, asked(session, *port, path)).await.ok().flatten()
                    == Some(*status)
        }
        Ready::File(file) => {
            let path = session.receipt().cwd.join(file);
            let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
            session.look(Some(path)).await.file
        }
        Ready::Text(_) => false,
    }
}

async fn listens(session: &Session, port: u16) -> bool {
    session.look(None).await.ports.contains(&port)
}

/// With which status a path is answered.
async fn asked(session: &Session, port: u16, path: &str) -> Option<u16> {
    let mut stream = session.common.loopback.connect(port).await.ok()?;
    let asked =
        format!("GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nAccept: */*\r\nConnection: close\r\n\r\n");
    stream.write_all(asked.as_bytes()).await.ok()?;
    let (mut line, mut stream) = (Vec::new(), stream.take(STATUS_LINE));
    while !line.contains(&b'\n') && stream.read_buf(&mut line).await.ok()? > 0 {}
    status(&line)
}

/// The status in the first line of an answer.
fn status(line: &[u8]) -> Option<u16> {
    let line = String::from_utf8_lossy(line);
    line.strip_prefix("HTTP/1.")?.split_ascii_whitespace().nth(1)?.get(..3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_from_the_first_line_alone() {
        assert_eq!(status(b"HTTP/1.1 204 No Content\r\n"), Some(204));
        assert_eq!(status(b"HTTP/1.0 200\r\n"), Some(200));
        assert_eq!(status(b"SSH-2.0 200 x\r\n"), None);
        assert_eq!(status(b"HTTP/1.1 ok"), None);
    }
}
