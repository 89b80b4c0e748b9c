//! What a terminal shows: everything that was printed, played to an emulator.

use std::io::Read as _;
use std::num::NonZero;

use runward_engine::Session;
use runward_model::{Size, Stream};

/// Programs that draw do so again and again: what came before this many bytes has been drawn over.
const PLAYED: u64 = 4 << 20;

/// A screen as text.
pub(super) struct Drawn {
    pub(super) text: String,
    pub(super) row: u16,
    pub(super) column: u16,
    pub(super) title: String,
}

/// Listens for the window's title.
#[derive(Default)]
struct Title(String);

impl vt100::Callbacks for Title {
    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.0 = String::from_utf8_lossy(title).into_owned();
    }
}

/// Plays what a session has printed.
pub(super) fn draw(session: &Session, size: Size) -> Drawn {
    let at_least_one = |count: u16| NonZero::new(count).unwrap_or(NonZero::<u16>::MIN);
    let mut parser = vt100::Parser::new_with_callbacks(
        at_least_one(size.rows),
        at_least_one(size.cols),
        0,
        Title::default(),
    );
    if let Ok(record) = session.log().record(Stream::Stdout) {
        let start = record.length().saturating_sub(PLAYED);
        let mut record = record.from(start);
        let mut block = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = record.read(&mut block) {
            parser.process(block.get(..read).unwrap_or_default());
        }
    }
    let screen = parser.screen();
    let (row, column) = screen.cursor_position();
    // Row by row, so that the cursor's row can be counted; blanks behind the last word say nothing.
    let rows: Vec<String> = screen.rows(0, size.cols).map(|row| row.trim_end().to_owned()).collect();
    let text = rows.join("\n").trim_end_matches('\n').to_owned();
    // After the last column of a line has been printed, the cursor stands behind it until something else is.
    let column = (column + 1).min(size.cols);
    Drawn { text, row: row + 1, column, title: parser.callbacks().0.clone() }
}
