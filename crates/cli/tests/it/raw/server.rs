//! A server, and a client of its streaming endpoint that does by hand what it is told to.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::TcpStream;

use runward_testkit::{PATIENCE, TestServer, puppet};
use serde_json::{Value, json};

use crate::program::Program;

/// A server that ends with the test.
pub(crate) struct Raw {
    pub(crate) server: TestServer,
    pub(crate) address: String,
}

impl Raw {
    /// Only the puppet may run.
    pub(crate) fn puppet() -> Self {
        Raw::allowing(puppet().to_str().unwrap())
    }

    /// These commands may run.
    pub(crate) fn allowing(commands: &str) -> Self {
        Raw::with(&[("ALLOWED_COMMANDS", commands)])
    }

    /// With these variables.
    pub(crate) fn with(variables: &[(&str, &str)]) -> Self {
        Raw::bound(&[&[("MCP_BIND_ADDR", "127.0.0.1:0")], variables].concat()).unwrap()
    }

    /// The same where they say where it listens; `None` where it cannot.
    pub(crate) fn bound(variables: &[(&str, &str)]) -> Option<Self> {
        Raw::start(variables, |program| program)
    }

    /// With these variables and what `ulimit` makes of this.
    pub(crate) fn with_descriptors(limit: &str, variables: &[(&str, &str)]) -> Self {
        let variables = [&[("MCP_BIND_ADDR", "127.0.0.1:0")], variables].concat();
        Raw::start(&variables, |program| program.after(&format!("ulimit {limit}"))).unwrap()
    }

    fn start(variables: &[(&str, &str)], prepared: impl FnOnce(Program) -> Program) -> Option<Self> {
        let program = Program::new(&["serve"]);
        let program = variables.iter().fold(program, |program, (name, value)| program.env(name, value));
        let program = prepared(program);
        let mut server = TestServer::start(program.into_command());
        let mut line = String::new();
        BufReader::new(server.take_output()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://")?.to_owned();
        Some(Raw { server, address })
    }

    /// What `RUN_REMOTE_SERVER` should be.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/raw", self.address)
    }

    /// Sends a request and reads the head of its answer.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
        if headers.iter().all(|(name, _)| *name != "Host") {
            let _ = write!(head, "Host: {}\r\n", self.address);
        }
        if headers.iter().all(|(name, _)| *name != "Content-Type") {
            head.push_str("Content-Type: application/json\r\n");
        }
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        socket.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
        // A server that refuses a body may close before all of it is written.
        let _ = socket.write_all(body);
        Answer::read(socket)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[], body.to_string().as_bytes())
    }

    /// Runs something and answers with its events.
    pub(crate) fn run(&self, body: &Value) -> Answer {
        let answer = self.post("/raw", body);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/x-ndjson")));
        answer
    }

    /// Runs the puppet with these verbs.
    pub(crate) fn run_puppet(&self, verbs: &[&str]) -> Answer {
        self.run(&puppet_with(verbs))
    }

    pub(crate) fn follow(&self, session: &str, from: u64) -> Answer {
        self.send("GET", &format!("/raw/{session}?from={from}"), &[], b"")
    }
}

/// The body that runs the puppet with these verbs.
pub(crate) fn puppet_with(verbs: &[&str]) -> Value {
    json!({ "executable": puppet().to_str().unwrap(), "args": verbs })
}

/// An answer whose head has been read.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: Vec<String>,
    reader: BufReader<TcpStream>,
    /// What was read of a body in chunks and not taken yet.
    held: Vec<u8>,
}

impl Answer {
    fn read(socket: TcpStream) -> Self {
        let mut reader = BufReader::new(socket);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let status = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: lines, reader, held: Vec::new() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.iter().filter_map(|line| line.split_once(": "));
        fields.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The next event, or nothing at the end of the stream.
    pub(crate) fn event(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.held.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.held.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            if !self.read_chunk() {
                assert_eq!(self.held, b"", "a torn line");
                return None;
            }
        }
    }

    /// What it is read from.
    pub(crate) fn socket(&self) -> &TcpStream {
        self.reader.get_ref()
    }

    /// Reads a single byte, as the slowest of readers does.
    pub(crate) fn read_one_byte(&mut self) {
        self.reader.read_exact(&mut [0]).unwrap();
    }

    /// The rest of the events.
    pub(crate) fn events(mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.event()).collect()
    }

    /// The start, and the name of the session.
    pub(crate) fn start(&mut self) -> String {
        let start = self.event().unwrap();
        assert_eq!((&start["event"], &start["seq"]), (&json!("start"), &json!(0)), "{start}");
        start["session"].as_str().unwrap().to_owned()
    }

    /// The body of an answer that is no stream.
    pub(crate) fn json(mut self) -> Value {
        let length = self.header("content-length").unwrap().parse().unwrap();
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    /// The status and the code of a refusal, which has a sentence too.
    pub(crate) fn refusal(self) -> (u16, String) {
        let status = self.status;
        assert!(self.header("content-type").unwrap().starts_with("application/json"));
        let body = self.json();
        assert!(!body["error"]["message"].as_str().unwrap().is_empty(), "{body}");
        (status, body["error"]["code"].as_str().unwrap().to_owned())
    }

    /// Whether there was one.
    fn read_chunk(&mut self) -> bool {
        let mut size = String::new();
        self.reader.read_line(&mut size).unwrap();
        let size = usize::from_str_radix(size.trim_end(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        self.reader.read_exact(&mut chunk).unwrap();
        self.held.extend_from_slice(&chunk[..size]);
        size > 0
    }
}

/// What was printed on one stream.
pub(crate) fn printed(events: &[Value], stream: &str) -> Vec<u8> {
    let data = events.iter().filter(|event| event["event"] == stream).map(unpacked);
    data.collect::<Vec<_>>().concat()
}

/// Bytes as the puppet takes them.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// The bytes of an event.
pub(crate) fn unpacked(event: &Value) -> Vec<u8> {
    base64_simd::STANDARD.decode_to_vec(event["data_b64"].as_str().unwrap()).unwrap()
}
