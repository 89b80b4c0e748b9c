//! One connection to a server: requests go out whole, answers come in piece by piece.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use rustix::net::sockopt;

use crate::address::{Address, Scheme};
use crate::tls::{self, TlsStream};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a connection may be silent before the system asks whether its other end still exists.
const PROBE_AFTER: Duration = Duration::from_secs(15);

/// What is read from the socket at once; a few frames of a flooding command.
const BUFFER: usize = 512 * 1024;

/// A connection and what has been read from it.
pub(crate) struct Connection {
    wire: Wire,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

enum Wire {
    Plain(TcpStream),
    Tls(Box<TlsStream>),
}

impl Connection {
    pub(crate) fn open(address: &Address) -> io::Result<Self> {
        let socket = connect(address)?;
        socket.set_nodelay(true)?;
        let _ = sockopt::set_socket_keepalive(&socket, true);
        let _ = sockopt::set_tcp_keepidle(&socket, PROBE_AFTER);
        let wire = match address.scheme {
            Scheme::Http => Wire::Plain(socket),
            Scheme::Https => Wire::Tls(Box::new(tls::wrap(&address.host, socket)?)),
        };
        Ok(Connection { wire, buffer: vec![0; BUFFER], start: 0, end: 0 })
    }

    /// Sends a whole request.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.wire {
            Wire::Plain(socket) => socket.write_all(bytes),
            Wire::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        }
    }

    /// How long a read may take; `None` is for ever.
    pub(crate) fn set_patience(&self, patience: Option<Duration>) -> io::Result<()> {
        match &self.wire {
            Wire::Plain(socket) => socket.set_read_timeout(patience),
            Wire::Tls(stream) => stream.sock.set_read_timeout(patience),
        }
    }

    /// What was read and not yet taken.
    pub(crate) fn held(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Takes some of it.
    pub(crate) fn take(&mut self, bytes: usize) {
        self.start = (self.start + bytes).min(self.end);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Reads more; the end of the connection is an error, since nothing of ours ends like that.
    pub(crate) fn fill(&mut self) -> io::Result<()> {
        if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        let read = match &mut self.wire {
            Wire::Plain(socket) => retried(socket, room),
            Wire::Tls(stream) => retried(stream.as_mut(), room),
        }?;
        if read == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it was closed"));
        }
        self.end += read;
        Ok(())
    }
}

/// Signals that were handled elsewhere do not end a read.
fn retried(source: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(room) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// The first of the host's addresses that answers.
fn connect(address: &Address) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for found in (address.host.as_str(), address.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&found, CONNECT) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}
