//! A server, as a client sees it.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use runward_model::stream::{Call, Checked};
use serde::Deserialize;

use crate::Error;
use crate::address::Address;
use crate::connection::Connection;
use crate::control::Control;
use crate::events::Events;
use crate::framing::Response;

/// More than any answer that is no stream.
const LONGEST_ANSWER: usize = 1 << 20;

/// How long an answer that is no stream may take to begin.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server, as a client sees it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Server(Arc<Known>);

struct Known {
    address: Address,
    token: Option<String>,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known").field("address", &self.address).finish_non_exhaustive()
    }
}

/// What is asked of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    pub(crate) method: &'static str,
    pub(crate) path: &'a str,
    pub(crate) kind: &'static str,
    pub(crate) body: &'a [u8],
}

impl Server {
    /// Connects to nobody yet.
    pub fn new(address: Address, token: Option<String>) -> Self {
        Server(Arc::new(Known { address, token }))
    }

    /// Where it is.
    pub fn address(&self) -> &Address {
        &self.0.address
    }

    /// Runs a command.
    pub fn run(&self, call: &Call) -> Result<Events, Error> {
        let path = self.address().path();
        let body = serde_json::to_vec(call).map_err(|error| Error::protocol(error.to_string()))?;
        let ask = Ask { method: "POST", path, kind: "application/json", body: &body };
        accepted(self.ask(self.connect()?, ask)?).map(Events::new)
    }

    /// Takes up the events of a command from a number on.
    pub fn follow(&self, session: &str, from: u64) -> Result<Events, Error> {
        let path = format!("{}?from={from}", self.address().below(session));
        let ask = Ask { method: "GET", path: &path, kind: "application/json", body: b"" };
        accepted(self.ask(self.connect()?, ask)?).map(Events::new)
    }

    /// What would become of a command; nothing is run.
    pub fn check(&self, call: &Call) -> Result<Checked, Error> {
        let path = self.address().beside("check");
        let body = serde_json::to_vec(call).map_err(|error| Error::protocol(error.to_string()))?;
        let ask = Ask { method: "POST", path: &path, kind: "application/json", body: &body };
        let connection = self.connect()?;
        connection.set_patience(Some(PATIENCE)).map_err(Error::Lost)?;
        let mut response = accepted(self.ask(connection, ask)?)?;
        let body = response.body(LONGEST_ANSWER).map_err(Error::Lost)?;
        serde_json::from_slice(&body).map_err(|error| Error::protocol(error.to_string()))
    }

    /// The way to drive a command that runs.
    pub fn control(&self, session: &str) -> Control {
        Control::new(self.clone(), session)
    }

    pub(crate) fn connect(&self) -> Result<Connection, Error> {
        let unreachable = |source| Error::Unreachable { address: self.address().to_string(), source };
        Connection::open(self.address()).map_err(unreachable)
    }

    /// Sends a request, head and body at once, and reads the head of its answer.
    pub(crate) fn ask(&self, mut connection: Connection, ask: Ask<'_>) -> Result<Response, Error> {
        let Ask { method, path, kind, body } = ask;
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.address().authority());
        if let Some(token) = &self.0.token {
            let _ = write!(head, "Authorization: Bearer {token}\r\n");
        }
        let _ = write!(head, "User-Agent: run-remote/{}\r\n", env!("CARGO_PKG_VERSION"));
        let _ = write!(head, "Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len());
        connection.send(&[head.as_bytes(), body].concat()).map_err(Error::Lost)?;
        Response::read(connection)
    }
}

/// An answer that is no refusal.
pub(crate) fn accepted(mut response: Response) -> Result<Response, Error> {
    #[derive(Deserialize)]
    struct Refusal {
        error: Said,
    }
    #[derive(Deserialize)]
    struct Said {
        code: String,
        message: String,
    }
    let status = response.status;
    if (200..300).contains(&status) {
        return Ok(response);
    }
    let body = response.body(LONGEST_ANSWER).map_err(Error::Lost)?;
    match serde_json::from_slice::<Refusal>(&body) {
        Ok(Refusal { error: Said { code, message } }) => Err(Error::Rejected { status, code, message }),
        Err(_) => Err(Error::protocol(format!("status {status} without a reason"))),
    }
}
