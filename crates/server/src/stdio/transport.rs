//! One line, one message: between the protocol library and two byte streams.

use std::collections::HashSet;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

use super::frame::Frame;
use super::lines::{Line, Lines};
use super::message::{self, Read};
use super::pipes::{Input, Output};

/// The longest line that is read. Only a call's `input` can come near it.
const LONGEST_LINE: usize = 8 * 1024 * 1024;

/// How many bytes of answers may wait for a client that does not read them before nothing more is read from it.
const LARGEST_BACKLOG: usize = 4 * 1024 * 1024;

/// Messages as lines.
pub(super) struct LineTransport {
    lines: Lines<Input>,
    output: Arc<Mutex<Option<Output>>>,
    /// How many bytes of answers wait to be written.
    backlog: watch::Sender<usize>,
    /// Cancelled when the client no longer writes or no longer reads.
    hung_up: CancellationToken,
    /// An answer of our own that is on its way. Kept here because a caller may drop `receive` at any time.
    answering: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
    /// The requests without an answer so far.
    open: HashSet<RequestId>,
    phase: Handshake,
}

/// Before the first request nothing else means anything, and the library would take it for the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handshake {
    BeforeFirstRequest,
    Talking,
}

impl LineTransport {
    /// Cancels `hung_up` when either stream ends.
    pub(super) fn new(input: Input, output: Output, hung_up: CancellationToken) -> Self {
        LineTransport {
            lines: Lines::new(input, LONGEST_LINE),
            output: Arc::new(Mutex::new(Some(output))),
            backlog: watch::Sender::new(0),
            hung_up,
            answering: None,
            open: HashSet::new(),
            phase: Handshake::BeforeFirstRequest,
        }
    }

    async fn next_message(&mut self) -> io::Result<Option<ClientJsonRpcMessage>> {
        loop {
            if let Some(answering) = &mut self.answering {
                let answered = answering.await;
                self.answering = None;
                answered?;
            }
            let _ = self.backlog.subscribe().wait_for(|bytes| *bytes < LARGEST_BACKLOG).await;
            let read = match self.lines.next().await? {
                Line::Whole(line) => message::read(line),
                Line::TooLong(start, end) => Read::Answer(message::too_long(start, end, LONGEST_LINE)),
                Line::End => return Ok(None),
            };
            match read {
                Read::Message(message) if self.admits(&message) => return Ok(Some(*message)),
                Read::Answer(answer) => self.answering = Some(Box::pin(self.write(Frame::new(&answer)))),
                Read::Message(_) | Read::Nothing => {}
            }
        }
    }

    /// Whether a message goes on to the library. Two open requests of one id would leave one of them unanswered.
    fn admits(&mut self, message: &ClientJsonRpcMessage) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                self.phase = Handshake::Talking;
                let is_new = self.open.insert(request.id.clone());
                if !is_new {
                    let answer = message::id_in_use(&request.id.clone().into_json_value());
                    self.answering = Some(Box::pin(self.write(Frame::new(&answer))));
                }
                is_new
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open.remove(id);
                }
                self.phase == Handshake::Talking
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => self.phase == Handshake::Talking,
        }
    }

    fn write(&self, frame: serde_json::Result<Frame>) -> impl Future<Output = io::Result<()>> + Send + use<> {
        let (output, hung_up) = (self.output.clone(), self.hung_up.clone());
        let waiting = frame.as_ref().map_or(0, Frame::len);
        let waiting = Waiting::new(waiting, self.backlog.clone());
        async move {
            let _waiting = waiting;
            let frame = frame?;
            let mut output = output.lock().await;
            let Some(output) = output.as_mut() else { return Err(io::ErrorKind::NotConnected.into()) };
            frame.write_to(output).await.inspect_err(|_| hung_up.cancel())
        }
    }
}

/// Bytes on their way to the client.
struct Waiting(usize, watch::Sender<usize>);

impl Waiting {
    fn new(bytes: usize, backlog: watch::Sender<usize>) -> Self {
        backlog.send_modify(|waiting| *waiting += bytes);
        Waiting(bytes, backlog)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.1.send_modify(|waiting| *waiting -= self.0);
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        match &message {
            JsonRpcMessage::Response(response) => self.open.remove(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref().is_some_and(|id| self.open.remove(id)),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => false,
        };
        self.write(Frame::new(&message))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.next_message().await.unwrap_or_else(|error| {
            tracing::debug!(%error, "the client cannot be heard or told any more");
            None
        });
        if message.is_none() {
            self.hung_up.cancel();
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        *self.output.lock().await = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
