//! Tells the server what has arrived, so that it keeps no more than it has to.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use runward_client::{Control, Server};

/// How many bytes arrive between two words: a quarter of what the server keeps.
const EVERY: usize = 1 << 20;

/// Less than this the server may keep until it notices by itself.
const MUCH: usize = 64 * 1024;

/// Tells the server what has arrived. Commands that print little never need a second connection for it.
pub(crate) struct Acknowledging {
    server: Server,
    session: String,
    /// Bytes that came since the last word.
    unsaid: usize,
    teller: Option<Sender<u64>>,
}

impl Acknowledging {
    pub(crate) fn new(server: Server, session: &str) -> Self {
        Acknowledging { server, session: session.to_owned(), unsaid: 0, teller: None }
    }

    /// So many bytes have come with the event of this number.
    pub(crate) fn arrived(&mut self, bytes: usize, seq: u64) {
        self.unsaid += bytes;
        if self.unsaid < EVERY {
            return;
        }
        self.unsaid = 0;
        let teller = self.teller.get_or_insert_with(|| {
            let (teller, told) = channel();
            let control = self.server.control(&self.session);
            thread::spawn(move || tell(control, &told));
            teller
        });
        let _ = teller.send(seq);
    }

    /// Nothing more comes: what the server still keeps, it need not, if that is much.
    pub(crate) fn finish(&mut self, seq: u64) {
        if self.unsaid >= MUCH {
            let _ = self.server.control(&self.session).acknowledge(seq);
        }
    }
}

/// Sends the newest number. Failing is harmless: should the connection be lost, all that was not told comes again.
fn tell(mut control: Control, told: &Receiver<u64>) {
    while let Ok(seq) = told.recv() {
        let newest = told.try_iter().last().unwrap_or(seq);
        let _ = control.acknowledge(newest);
    }
}
