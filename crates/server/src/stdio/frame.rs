//! A message as one line, in pieces that are freed as they are written.

use std::io;

use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

/// A large message is never copied to grow, and its memory goes back piece by piece.
const PIECE: usize = 128 * 1024;

/// A message as JSON with a newline after it.
#[derive(Debug, Default)]
pub(super) struct Frame {
    full: Vec<Vec<u8>>,
    last: Vec<u8>,
}

impl Frame {
    /// Writes a message down.
    pub(super) fn new(message: &impl Serialize) -> serde_json::Result<Self> {
        let mut frame = Frame::default();
        serde_json::to_writer(&mut frame, message)?;
        frame.last.push(b'\n');
        Ok(frame)
    }

    /// How many bytes it is.
    pub(super) fn len(&self) -> usize {
        self.full.iter().map(Vec::len).sum::<usize>() + self.last.len()
    }

    /// Sends it.
    pub(super) async fn write_to(self, output: &mut (impl AsyncWrite + Unpin + ?Sized)) -> io::Result<()> {
        for piece in self.full {
            output.write_all(&piece).await?;
        }
        output.write_all(&self.last).await?;
        output.flush().await
    }
}

impl io::Write for Frame {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.last.len() == PIECE {
            self.full.push(std::mem::take(&mut self.last));
        }
        let room = PIECE - self.last.len();
        let fits = bytes.get(..room).unwrap_or(bytes);
        self.last.extend_from_slice(fits);
        Ok(fits.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_frame_is_the_json_and_a_newline_however_long() {
        for length in [0, 5, PIECE - 3, PIECE - 2, PIECE - 1, PIECE, 3 * PIECE] {
            let text = "x".repeat(length);
            let mut written = Vec::new();
            Frame::new(&text).expect("is JSON").write_to(&mut written).await.expect("writes");
            assert_eq!(String::from_utf8(written).expect("text"), format!("\"{text}\"\n"));
        }
    }
}
