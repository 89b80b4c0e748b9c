//! A client that sends exactly what it is told to, and a server that says what became of its calls.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::net::SocketAddr;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use runward_server::http::{Error, Limits, Server};
use runward_server::{Disconnected, HttpSettings, RawSettings, Tokens};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A bound for waits that would otherwise hang; nothing is expected to take this long.
const PATIENCE: Duration = Duration::from_secs(20);

/// Fails instead of waiting for ever.
pub(crate) async fn soon<T>(wait: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, wait).await.expect("this should have happened by now")
}

pub(crate) fn settings() -> HttpSettings {
    let bind = SocketAddr::from(([127, 0, 0, 1], 0));
    let raw = RawSettings { timeout: None };
    let (head, body, idle) = (PATIENCE, PATIENCE, PATIENCE);
    let limits = Limits { head, body, idle, connections: 1000 };
    HttpSettings {
        bind,
        tokens: Tokens::default(),
        raw_is_open: true,
        allowed_hosts: vec![],
        allowed_origins: vec![],
        max_body: 10_000,
        limits,
        raw,
    }
}

/// A tool call that the server is working on.
pub(crate) struct Call {
    pub(crate) disconnected: CancellationToken,
    pub(crate) finish: CancellationToken,
}

/// Tells of every call; `wait` ends when it is told to finish or its caller has gone, all others at once.
#[derive(Clone)]
struct Teller(mpsc::UnboundedSender<Call>);

impl ServerHandler for Teller {
    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let parts = context.extensions.get::<http::request::Parts>().expect("the parts of the request");
        let Disconnected(disconnected) = parts.extensions.get().cloned().expect("a leash");
        let finish = CancellationToken::new();
        self.0
            .send(Call { disconnected: disconnected.clone(), finish: finish.clone() })
            .expect("a listening test");
        if call.name == "wait" {
            tokio::select! { () = finish.cancelled() => {}, () = disconnected.cancelled() => {} }
        }
        Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into())
    }
}

/// A running listener.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) calls: mpsc::UnboundedReceiver<Call>,
    pub(crate) stop: CancellationToken,
    pub(crate) wound_down: CancellationToken,
    pub(crate) task: JoinHandle<Result<(), Error>>,
}

impl Running {
    pub(crate) async fn with(settings: &HttpSettings) -> Self {
        let (tell, calls) = mpsc::unbounded_channel();
        let server = Server::bind(settings).await.expect("a listener");
        let (address, stop, wound_down) =
            (server.address(), CancellationToken::new(), CancellationToken::new());
        let (told, done) = (stop.clone().cancelled_owned(), wound_down.clone());
        let task = tokio::spawn(server.run(Teller(tell), told, async move { done.cancel() }));
        Running { address, calls, stop, wound_down, task }
    }

    pub(crate) async fn call(&mut self) -> Call {
        soon(self.calls.recv()).await.expect("a call")
    }

    /// Sends a request and leaves its answer to be read.
    pub(crate) async fn open(&self, request: &Ask) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.expect("a connection");
        stream.write_all(&request.bytes()).await.expect("a request");
        stream
    }

    pub(crate) async fn ask(&self, request: &Ask) -> Answer {
        Answer::read(self.open(request).await).await
    }

    /// Opens a legacy session and gives its id.
    pub(crate) async fn initialize(&self) -> String {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let answer = self.ask(&Ask::legacy("initialize", &params)).await;
        let id = answer.header("mcp-session-id").expect("a session id").to_owned();
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let answer = self.ask(&Ask::post("/mcp").session(&id).json(&initialized)).await;
        assert_eq!(answer.status, 202);
        id
    }
}

/// A request, byte by byte.
#[derive(Clone)]
pub(crate) struct Ask {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Ask {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        let headers = [("Host", "localhost"), ("Connection", "close")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Ask { line: format!("{method} {path} HTTP/1.1"), headers, body: vec![] }
    }

    pub(crate) fn get(path: &str) -> Self {
        Ask::new("GET", path)
    }

    pub(crate) fn post(path: &str) -> Self {
        Ask::new("POST", path)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
    }

    /// A request of the revisions that have sessions.
    pub(crate) fn legacy(method: &str, params: &Value) -> Self {
        Ask::post("/mcp").json(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
    }

    /// A tool call of the revision that has none.
    pub(crate) fn modern(tool: &str) -> Self {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": tool, "arguments": {}, "_meta": meta });
        Ask::legacy("tools/call", &params)
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", "tools/call")
            .header("Mcp-Name", tool)
    }

    /// Adds a header; a `Host` takes the place of the one that is there.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| !(name == "Host" && known == "Host"));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn session(self, id: &str) -> Self {
        self.header("Mcp-Session-Id", id)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body(body.to_string().as_bytes())
    }

    pub(crate) fn body(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        let length = body.len().to_string();
        self.header("Content-Length", &length)
    }

    /// A body that does not say how long it is.
    pub(crate) fn chunked(mut self, body: &[u8]) -> Self {
        self.body = format!("{:x}\r\n", body.len()).into_bytes();
        self.body.extend_from_slice(body);
        self.body.extend_from_slice(b"\r\n0\r\n\r\n");
        self.header("Transfer-Encoding", "chunked")
    }

    fn bytes(&self) -> Vec<u8> {
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let head = [format!("{}\r\n", self.line)].into_iter().chain(headers).collect::<Vec<_>>().concat();
        [head.as_bytes(), b"\r\n", &self.body].concat()
    }
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) async fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        soon(stream.read_to_end(&mut bytes)).await.expect("an answer");
        let text = String::from_utf8(bytes).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The JSON of a body that was not sent in chunks.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_str(&self.body).expect("JSON")
    }

    pub(crate) fn error_code(&self) -> Value {
        let error = &self.json()["error"];
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{self:?}");
        error["code"].clone()
    }
}
