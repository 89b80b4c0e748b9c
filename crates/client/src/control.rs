//! What goes to a command that runs.

use std::time::Duration;

use runward_model::Size;
use serde_json::{Value, json};

use crate::Error;
use crate::connection::Connection;
use crate::server::{Ask, Server, accepted};

/// More than any answer to a control.
const LONGEST_ANSWER: usize = 64 * 1024;

/// How long an answer may take. Input may wait for as long as the command does.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often a request is sent again on a new connection when the kept one turns out to be gone.
const TRIES: u32 = 2;

/// The way to drive a command that runs, over a connection of its own that is made when it is first needed and kept.
pub struct Control {
    server: Server,
    session: String,
    connection: Option<Connection>,
}

impl Control {
    pub(crate) fn new(server: Server, session: &str) -> Self {
        Control { server, session: session.to_owned(), connection: None }
    }

    /// Writes to its standard input. `at` is the number of bytes that were written before; what is written twice by
    /// a sender that did not hear the answer is taken once. Returns when the command has room for more.
    pub fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Error> {
        self.tell("POST", &format!("/stdin?at={at}"), bytes, None)
    }

    /// Ends its standard input after so many bytes.
    pub fn end_input(&mut self, at: u64) -> Result<(), Error> {
        self.tell("POST", &format!("/stdin?at={at}&end=true"), b"", None)
    }

    /// Sends it a signal by name, such as `INT`.
    pub fn signal(&mut self, name: &str) -> Result<(), Error> {
        self.tell_json("/signal", &json!({ "signal": name }))
    }

    /// Tells it the new size of its terminal.
    pub fn resize(&mut self, size: Size) -> Result<(), Error> {
        self.tell_json("/resize", &json!(size))
    }

    /// Says that every event up to this number has arrived.
    pub fn acknowledge(&mut self, seq: u64) -> Result<(), Error> {
        self.tell_json("/ack", &json!({ "seq": seq }))
    }

    /// Ends it and everything that it started.
    pub fn stop(&mut self) -> Result<(), Error> {
        self.tell("DELETE", "", b"", Some(PATIENCE))
    }

    fn tell_json(&mut self, what: &str, body: &Value) -> Result<(), Error> {
        self.tell("POST", what, body.to_string().as_bytes(), Some(PATIENCE))
    }

    fn tell(
        &mut self,
        method: &'static str,
        what: &str,
        body: &[u8],
        patience: Option<Duration>,
    ) -> Result<(), Error> {
        let path = self.server.address().below(&format!("{}{what}", self.session));
        let kind = if what.starts_with("/stdin") { "application/octet-stream" } else { "application/json" };
        let ask = Ask { method, path: &path, kind, body };
        let mut told = self.try_once(ask, patience);
        for _ in 1..TRIES {
            if matches!(told, Err(Error::Lost(_))) {
                told = self.try_once(ask, patience);
            }
        }
        told
    }

    fn try_once(&mut self, ask: Ask<'_>, patience: Option<Duration>) -> Result<(), Error> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.server.connect()?,
        };
        connection.set_patience(patience).map_err(Error::Lost)?;
        let mut response = accepted(self.server.ask(connection, ask)?)?;
        response.body(LONGEST_ANSWER).map_err(Error::Lost)?;
        self.connection = response.into_connection();
        Ok(())
    }
}
