//! The listener and its connections, held to their limits.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::connections::{Connection, Connections, Limits, Overdue};
use super::peer::Caller;

/// How long a connection may be silent before the system asks whether its other end still exists.
const PROBE_AFTER: Duration = Duration::from_mins(1);

/// How long nobody is let in once there is no descriptor for another connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Lets nobody in beyond the limit.
pub(super) struct Bounded {
    listener: TcpListener,
    limits: Limits,
    connections: Connections,
}

impl Bounded {
    pub(super) fn new(listener: TcpListener, limits: Limits) -> Self {
        Bounded { listener, limits, connections: Connections::new(limits.connections) }
    }

    fn admit(&self, stream: TcpStream) -> Option<Attended> {
        let Ok(connection) = self.connections.admit() else {
            let _ = stream.try_write(&last_words(
                "503 Service Unavailable",
                "too_many",
                "there are as many connections as there can be (http.max_connections), all in use; try again later",
            ));
            return None;
        };
        prepare(&stream);
        let (limits, connections) = (self.limits, self.connections.clone());
        let ended = Box::pin(connection.ended().cancelled_owned());
        Some(Attended { stream, connection, connections, limits, ended, timer: None })
    }
}

impl Listener for Bounded {
    type Io = Attended;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Attended, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => {
                    let admitted = self.admit(stream);
                    // Whoever had to make room gets to see it before the next one is let in.
                    tokio::task::yield_now().await;
                    if let Some(admitted) = admitted {
                        return (admitted, peer);
                    }
                }
                Err(error) if is_of_one_client(&error) => {}
                Err(error) => {
                    tracing::error!(%error, "no connection can be accepted just now");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection whose client may not take for ever.
pub(super) struct Attended {
    stream: TcpStream,
    connection: Arc<Connection>,
    connections: Connections,
    limits: Limits,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Attended {
    /// Called wherever the client is waited for: ready once that has taken too long.
    fn poll_overdue(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        if self.ended.as_mut().poll(cx).is_ready() {
            return Poll::Ready(io::ErrorKind::ConnectionAborted.into());
        }
        let Some((deadline, what)) = self.connection.deadline(&self.limits) else {
            self.timer = None;
            return Poll::Pending;
        };
        ready!(self.poll_until(deadline, cx));
        if what == Overdue::Head {
            let what = format!(
                "the head of the request took longer than {:?} (http.head_timeout)",
                self.limits.head
            );
            let _ = self.stream.try_write(&last_words("408 Request Timeout", "request_timeout", &what));
        }
        Poll::Ready(io::ErrorKind::TimedOut.into())
    }

    fn poll_until(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(cx)
    }
}

impl AsyncRead for Attended {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if matches!(read, Poll::Ready(Ok(()))) && buf.filled().len() > before {
            self.connection.heard();
        } else if read.is_ready() {
            return read;
        }
        // Also when something came: a head may come a byte at a time.
        match self.poll_overdue(cx) {
            Poll::Ready(error) => Poll::Ready(Err(error)),
            Poll::Pending => read,
        }
    }
}

impl AsyncWrite for Attended {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(cx, buf) {
            Poll::Pending => self.poll_overdue(cx).map(Err),
            written @ Poll::Ready(_) => written,
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write_vectored(cx, bufs) {
            Poll::Pending => self.poll_overdue(cx).map(Err),
            written @ Poll::Ready(_) => written,
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        self.connections.forget(&self.connection);
    }
}

/// The connection that a request came over.
#[derive(Clone, Debug)]
pub(super) struct Via {
    pub(super) connection: Arc<Connection>,
    /// Who is at its other end.
    pub(super) caller: Caller,
    /// How long its body may stand still.
    pub(super) body: Duration,
}

impl Connected<IncomingStream<'_, Bounded>> for Via {
    fn connect_info(stream: IncomingStream<'_, Bounded>) -> Self {
        let Attended { stream, connection, limits, .. } = stream.io();
        Via { connection: connection.clone(), caller: Caller::new(stream), body: limits.body }
    }
}

/// Answers are small and awaited: Nagle's algorithm would hold each back for 40 ms. Keep-alive probes find callers
/// that vanished without closing. Neither is worth refusing a connection for.
fn prepare(connection: &TcpStream) {
    let _ = connection.set_nodelay(true);
    let _ = sockopt::set_socket_keepalive(connection, true);
    let _ = sockopt::set_tcp_keepidle(connection, PROBE_AFTER);
}

/// A client that went away before it was let in.
fn is_of_one_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    )
}

/// The answer to a request that was never read, of the same shape as all others.
fn last_words(status: &str, code: &str, message: &str) -> Vec<u8> {
    let body = serde_json::json!({ "error": { "code": code, "message": message } }).to_string();
    let length = body.len();
    let head = "content-type: application/json\r\nconnection: close";
    format!("HTTP/1.1 {status}\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}
