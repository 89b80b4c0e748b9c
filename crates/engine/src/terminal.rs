//! A session's terminal as whoever writes to it sees it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use runward_model::Size;
use runward_process::Terminal;

use crate::typing::NotTaken;

/// What a terminal keeps of a line that nobody has read yet (the kernel's `N_TTY_BUF_SIZE` without the line's end).
const LONGEST_LINE: usize = 4095;

/// The characters that end a line on a terminal, or throw it away: ^C, ^D, newline, return, ^U.
const LINE_ENDS: [u8; 5] = [3, 4, b'\n', b'\r', 0x15];

/// A session's terminal. It is not held open by this.
#[derive(Debug)]
pub(crate) struct TerminalHandle {
    /// Its size when somebody last looked: rows above, columns below.
    size: AtomicU32,
    terminal: Weak<Terminal>,
}

impl TerminalHandle {
    pub(crate) fn new(size: Size, terminal: &Arc<Terminal>) -> Self {
        TerminalHandle { size: packed(size).into(), terminal: Arc::downgrade(terminal) }
    }

    /// Its size, which the programs on it may change too; after their end the last one that is known.
    pub(crate) fn size(&self) -> Size {
        if let Some(Ok(size)) = self.terminal.upgrade().map(|terminal| terminal.size()) {
            self.size.store(packed(size), Ordering::Relaxed);
        }
        let [a, b, c, d] = self.size.load(Ordering::Relaxed).to_be_bytes();
        Size { rows: u16::from_be_bytes([a, b]), cols: u16::from_be_bytes([c, d]) }
    }

    /// Tells the programs on it; once they have ended there is nothing to do.
    pub(crate) fn resize(&self, size: Size) {
        if let Some(Ok(())) = self.terminal.upgrade().map(|terminal| terminal.resize(size)) {
            self.size.store(packed(size), Ordering::Relaxed);
        }
    }

    /// Whether it takes all of this. A terminal that hands over whole lines drops what is too long for one, and says
    /// nothing.
    pub(crate) fn takes(&self, bytes: &[u8]) -> Result<(), NotTaken> {
        let longest = bytes.split(|byte| LINE_ENDS.contains(byte)).map(<[u8]>::len).max().unwrap_or(0);
        let reads_lines = || self.terminal.upgrade().is_some_and(|terminal| terminal.reads_lines());
        if longest > LONGEST_LINE && reads_lines() {
            return Err(NotTaken::LongLine { length: longest, most: LONGEST_LINE });
        }
        Ok(())
    }
}

/// Both sides in one word.
fn packed(Size { rows, cols }: Size) -> u32 {
    u32::from(rows) << 16 | u32::from(cols)
}
