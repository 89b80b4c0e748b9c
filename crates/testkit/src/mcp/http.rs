//! A client that speaks HTTP by hand: one connection a request.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;

use serde_json::{Value, json};

use super::{Client, Era, cancellation, initialize, is_answer, notification, request};
use crate::{PATIENCE, TestServer};

/// A client that speaks HTTP by hand: one connection a request.
#[derive(Debug)]
pub struct HttpClient {
    server: TestServer,
    era: Era,
    address: String,
    authorization: Option<String>,
    session: Option<String>,
    /// Answers that come in, and what was read of them already.
    open: HashMap<u64, (TcpStream, Vec<u8>)>,
    last_id: u64,
}

impl HttpClient {
    /// Starts a server on a free port, waits until it listens and, in the era that wants it, shakes hands.
    pub fn start(command: Command, era: Era) -> Self {
        HttpClient::start_as(command, era, None, &json!({}))
    }

    /// The same for a client that can do this. Where there is no handshake, each request has to say so.
    pub fn start_able(command: Command, era: Era, capabilities: &Value) -> Self {
        HttpClient::start_as(command, era, None, capabilities)
    }

    /// The same, and shows this bearer token with every request.
    pub fn start_with_token(command: Command, era: Era, token: &str) -> Self {
        HttpClient::start_as(command, era, Some(format!("Bearer {token}")), &json!({}))
    }

    fn start_as(mut command: Command, era: Era, authorization: Option<String>, capabilities: &Value) -> Self {
        command.args(["serve", "--bind", "127.0.0.1:0"]);
        let mut server = TestServer::start(command);
        let mut line = String::new();
        BufReader::new(server.take_output()).read_line(&mut line).expect("an address");
        let address = line.trim_end().strip_prefix("listening on http://").expect("an address").to_owned();
        let (session, open) = (None, HashMap::new());
        let mut client = HttpClient { server, era, address, authorization, session, open, last_id: 0 };
        if era == Era::Legacy {
            client.shake_hands(capabilities);
        }
        client
    }

    /// Where the server listens, IP:PORT.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Sends any body at all to the server's MCP endpoint and reads the whole answer.
    pub fn post(&self, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        Answer::read(self.send(headers, body), Vec::new())
    }

    fn shake_hands(&mut self, capabilities: &Value) {
        let hello = request(self.era, 0, "initialize", initialize(capabilities));
        let answer = self.post(&[], hello.to_string().as_bytes());
        self.session = Some(answer.header("mcp-session-id").expect("a session").to_owned());
        let initialized = notification("notifications/initialized", &json!({}));
        assert_eq!(self.post(&self.own_headers(), initialized.to_string().as_bytes()).status, 202);
    }

    fn own_headers(&self) -> Vec<(&str, &str)> {
        match self.session.as_deref() {
            Some(session) => vec![("Mcp-Session-Id", session), ("MCP-Protocol-Version", "2025-11-25")],
            None => vec![("MCP-Protocol-Version", "2026-07-28")],
        }
    }

    fn send(&self, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a bound");
        let length = body.len().to_string();
        let usual = [
            ("Host", self.address.as_str()),
            ("Connection", "close"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Length", &length),
        ];
        let authorization = self.authorization.as_deref().map(|value| ("Authorization", value));
        let lines = usual
            .iter()
            .chain(authorization.as_ref())
            .chain(headers)
            .map(|(name, value)| format!("{name}: {value}\r\n"));
        let head = format!("POST /mcp HTTP/1.1\r\n{}\r\n", lines.collect::<String>());
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).expect("a server that reads");
        stream
    }
}

impl Client for HttpClient {
    fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let body = request(self.era, self.last_id, method, params).to_string();
        let mut headers = self.own_headers();
        if self.era == Era::Modern {
            headers.push(("Mcp-Method", method));
            headers.extend((!name.is_empty()).then_some(("Mcp-Name", name.as_str())));
        }
        let stream = self.send(&headers, body.as_bytes());
        self.open.insert(self.last_id, (stream, Vec::new()));
        self.last_id
    }

    fn messages(&mut self, id: u64) -> Vec<Value> {
        let (stream, read) = self.open.remove(&id).expect("a request that is open");
        let answer = Answer::read(stream, read);
        let messages = answer.messages();
        let last = messages.last().unwrap_or_else(|| panic!("no message in {answer:?}"));
        assert!(is_answer(last) && last["id"] == id, "{answer:?}");
        messages
    }

    fn cancel(&mut self, id: u64) {
        if self.era == Era::Legacy {
            let answer = self.post(&self.own_headers(), cancellation(id).to_string().as_bytes());
            assert_eq!(answer.status, 202, "{answer:?}");
        } else {
            self.vanish(id);
        }
    }

    fn vanish(&mut self, id: u64) {
        self.open.remove(&id).expect("a request that is open");
    }

    fn asked(&mut self, id: u64) -> Value {
        let (stream, read) = self.open.get_mut(&id).expect("a request that is open");
        let mut seen = read.len();
        loop {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("a request before the answer ends");
            read.push(byte[0]);
            if byte[0] == b'\n' {
                let line = text(&read[seen..]);
                seen = read.len();
                let data = line
                    .strip_prefix("data:")
                    .and_then(|data| serde_json::from_str::<Value>(data.trim()).ok());
                if let Some(message) =
                    data.filter(|message| message["method"].is_string() && !message["id"].is_null())
                {
                    return message;
                }
            }
        }
    }

    fn respond(&mut self, answer: &Value) {
        let answer = self.post(&self.own_headers(), answer.to_string().as_bytes());
        assert_eq!(answer.status, 202, "{answer:?}");
    }

    fn server(&mut self) -> &mut TestServer {
        &mut self.server
    }
}

/// An answer, read to its end.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    head: String,
    /// The body, put together again where it came in chunks.
    pub body: String,
}

impl Answer {
    fn read(mut stream: TcpStream, mut bytes: Vec<u8>) -> Self {
        stream.read_to_end(&mut bytes).expect("an answer");
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let (head, body) = (text(&bytes[..end]), &bytes[end + 4..]);
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let mut answer = Answer { status, head, body: String::new() };
        let is_chunked = answer.header("transfer-encoding") == Some("chunked");
        answer.body = if is_chunked { text(&unchunked(body)) } else { text(body) };
        answer
    }

    /// A header by name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The messages in it, whether it is one JSON value or a stream of events.
    pub fn messages(&self) -> Vec<Value> {
        let parse = |text| serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {self:?}"));
        if self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")) {
            let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
            return data.map(str::trim).filter(|data| !data.is_empty()).map(parse).collect();
        }
        vec![parse(&self.body)]
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(&text(&body[..end]), 16).expect("the size of a chunk");
        let rest = &body[end + 2..];
        whole.extend_from_slice(&rest[..size]);
        body = rest[size..].strip_prefix(b"\r\n").unwrap_or_default();
    }
    whole
}
