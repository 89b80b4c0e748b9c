//! The other side of the desk: what `runward approvals` does. It waits for nobody for long.

use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use runward_model::{Answer, QuestionId};
use serde::{Deserialize, Serialize};

use super::socket_directory::SocketDirectory;
use super::wire::{LONGEST, Open, Order, PATIENCE, Report};

/// A server and what it asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asking {
    /// Its process.
    pub server: u32,
    /// What it asks.
    #[serde(flatten)]
    pub open: Open,
}

/// What became of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It counts.
    Yes,
    /// No server asks this, or no longer.
    Unknown,
    /// It is no answer to that question.
    No(String),
}

/// Every question of every server that has its socket in this directory. Sockets that nobody listens to are removed.
pub fn list(directory: &Path) -> io::Result<Vec<Asking>> {
    let mut asked = Vec::new();
    let Some(place) = place(directory)? else { return Ok(asked) };
    for name in place.sockets()? {
        match order(&place, &name, &Order::List)? {
            Some(Report::Questions { server, questions }) => {
                asked.extend(questions.into_iter().map(|open| Asking { server, open }));
            }
            Some(Report::Refused { why }) => return Err(io::Error::new(ErrorKind::PermissionDenied, why)),
            Some(Report::Taken | Report::Unknown) | None => {}
        }
    }
    asked.sort_by_key(|asking| std::cmp::Reverse(asking.open.waiting_seconds));
    Ok(asked)
}

/// Answers a question, wherever it is asked.
pub fn answer(directory: &Path, question: &QuestionId, answer: &Answer) -> io::Result<Taken> {
    let Some(place) = place(directory)? else { return Ok(Taken::Unknown) };
    for name in place.sockets()? {
        let told = Order::Answer { question: question.clone(), answer: answer.clone() };
        match order(&place, &name, &told)? {
            Some(Report::Taken) => return Ok(Taken::Yes),
            Some(Report::Refused { why }) => return Ok(Taken::No(why)),
            Some(Report::Unknown | Report::Questions { .. }) | None => {}
        }
    }
    Ok(Taken::Unknown)
}

/// Removes sockets that nobody listens to.
pub(super) fn clean(place: &SocketDirectory) {
    for name in place.sockets().unwrap_or_default() {
        let _ = connect(place, &name);
    }
}

fn place(directory: &Path) -> io::Result<Option<SocketDirectory>> {
    match SocketDirectory::open(directory) {
        Ok(place) => Ok(Some(place)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A connection, unless nobody listens any more.
fn connect(place: &SocketDirectory, name: &str) -> io::Result<Option<UnixStream>> {
    match UnixStream::connect(place.at(name)) {
        Ok(stream) => Ok(Some(stream)),
        Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound) => {
            place.remove(name);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What a server says; nothing when it is gone or does not answer, so that one cannot hold up the others.
fn order(place: &SocketDirectory, name: &str, order: &Order) -> io::Result<Option<Report>> {
    let Some(stream) = connect(place, name)? else { return Ok(None) };
    Ok(exchange(stream, order).unwrap_or_else(|error| {
        tracing::warn!(name, %error, "a server did not answer");
        None
    }))
}

fn exchange(mut stream: UnixStream, order: &Order) -> io::Result<Option<Report>> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_vec(order)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    let mut answer = Vec::new();
    BufReader::new(stream.take(LONGEST as u64 * 16)).read_until(b'\n', &mut answer)?;
    Ok(Some(serde_json::from_slice(&answer)?))
}
