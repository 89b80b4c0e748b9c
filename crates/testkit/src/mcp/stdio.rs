//! A client on the other end of a server's standard streams.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use serde_json::{Value, json};

use super::{Client, Era, cancellation, initialize, is_answer, notification, request};
use crate::{PATIENCE, TestServer};

/// A client on the other end of a server's standard streams. Everything that the server writes has to be JSON.
#[derive(Debug)]
pub struct StdioClient {
    server: TestServer,
    era: Era,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// What came while something else was waited for.
    parked: VecDeque<Value>,
    last_id: u64,
}

impl StdioClient {
    /// Starts a server and, in the era that wants it, shakes hands.
    pub fn start(command: Command, era: Era) -> Self {
        StdioClient::start_able(command, era, &json!({}))
    }

    /// The same for a client that can do this. Where there is no handshake, each request has to say so.
    pub fn start_able(command: Command, era: Era, capabilities: &Value) -> Self {
        let mut client = StdioClient::silent(command, era);
        if era == Era::Legacy {
            let hello = client.ask("initialize", initialize(capabilities));
            assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
            client.send(&notification("notifications/initialized", &json!({})));
        }
        client
    }

    /// Starts a server and says nothing.
    pub fn silent(command: Command, era: Era) -> Self {
        let mut server = TestServer::start(command);
        let (input, lines) = (Some(server.take_input()), lines(server.take_output()));
        StdioClient { server, era, input, lines, parked: VecDeque::new(), last_id: 0 }
    }

    /// The server's process id.
    pub fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    /// Sends any bytes at all, and a newline.
    pub fn send_line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().expect("an input that is open");
        input.write_all(line).and_then(|()| input.write_all(b"\n")).expect("a server that reads");
    }

    /// The next message, or nothing when the server has closed its output.
    pub fn receive(&mut self) -> Option<Value> {
        if let Some(message) = self.parked.pop_front() {
            return Some(message);
        }
        self.receive_new()
    }

    /// Closes the server's input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    fn receive_new(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line:?}")))
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no message within {PATIENCE:?}"),
        }
    }
}

impl Client for StdioClient {
    fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        self.send(&request(self.era, self.last_id, method, params));
        self.last_id
    }

    fn messages(&mut self, id: u64) -> Vec<Value> {
        let mut seen: Vec<Value> = self.parked.drain(..).collect();
        let ends = |message: &Value| is_answer(message) && message["id"] == id;
        while !seen.iter().any(ends) {
            seen.push(self.receive_new().expect("an answer before the output ends"));
        }
        let (own, others): (Vec<_>, Vec<_>) =
            seen.into_iter().partition(|message| !is_answer(message) || message["id"] == id);
        self.parked.extend(others);
        own
    }

    fn cancel(&mut self, id: u64) {
        self.send(&cancellation(id));
    }

    fn vanish(&mut self, _id: u64) {
        self.close_input();
    }

    fn asked(&mut self, _id: u64) -> Value {
        loop {
            let message = self.receive().expect("a request before the output ends");
            assert!(!is_answer(&message), "an answer instead of a request: {message}");
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    fn respond(&mut self, answer: &Value) {
        self.send(answer);
    }

    fn server(&mut self) -> &mut TestServer {
        &mut self.server
    }
}

/// A thread of its own reads, so that waiting has a bound.
fn lines(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(output).lines();
        lines.map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    receiver
}
