//! Output as a model should read it: what a terminal would show of each line in the end, and no escape sequences.
//!
//! Each line stands for itself, so that an unfinished sequence can swallow no more than its own line. What comes out
//! has no control characters but newlines and tabs, and is never longer than what went in.

use std::iter::Peekable;
use std::str::Chars;

const ESCAPE: char = '\x1B';

/// Longer sequences are not waited for when output is read in parts.
const LONGEST_SEQUENCE: usize = 256;

/// The text that a terminal would show, line by line.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (content, end) = line.strip_suffix('\n').map_or((line, ""), |content| (content, "\n"));
        if content.chars().any(is_control) {
            Line::default().play(content).write(&mut out);
        } else {
            out.push_str(content);
        }
        out.push_str(end);
    }
    out
}

/// How many of these bytes can be read now: without a character or a sequence at the end that is still to be
/// completed.
pub(crate) fn complete(bytes: &[u8]) -> usize {
    let recent = bytes.len().saturating_sub(LONGEST_SEQUENCE);
    let end = bytes.get(recent..).unwrap_or_default();
    let begun = end.iter().rposition(|byte| *byte == ESCAPE as u8).filter(|at| {
        let sequence = String::from_utf8_lossy(end.get(*at..).unwrap_or_default());
        is_unfinished(&sequence)
    });
    if let Some(at) = begun {
        return recent + at;
    }
    let torn = bytes.utf8_chunks().last().map_or(0, |chunk| {
        let begins_one = std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
        if begins_one { chunk.invalid().len() } else { 0 }
    });
    bytes.len() - torn
}

/// Whether a sequence lacks its end.
fn is_unfinished(sequence: &str) -> bool {
    let mut rest = sequence.chars();
    rest.next();
    match rest.next() {
        None => true,
        Some('[') => !rest.any(|c| !is_parameter(c)),
        Some(introducer) if is_string(introducer) => !rest.any(|c| matches!(c, '\x07' | '\n' | '\u{9C}')),
        Some(_) => false,
    }
}

fn is_control(c: char) -> bool {
    c != '\t' && c.is_control()
}

/// Parameters and intermediate bytes of a control sequence.
const fn is_parameter(c: char) -> bool {
    matches!(c, ' '..='?')
}

/// What introduces a string after an escape: OSC, DCS, SOS, PM, APC.
const fn is_string(c: char) -> bool {
    matches!(c, ']' | 'P' | 'X' | '^' | '_')
}

/// One line of a terminal.
#[derive(Debug, Default)]
struct Line {
    cells: Vec<char>,
    /// Never beyond the end of the cells.
    cursor: usize,
    /// Whether the cursor was moved past the end; one space then stands for the distance.
    is_apart: bool,
    /// Whether something was written over; blanks at the end are then what is left of it.
    is_rewritten: bool,
}

impl Line {
    fn play(mut self, content: &str) -> Self {
        let mut rest = content.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                ESCAPE => self.escape(&mut rest),
                '\u{9B}' => self.control(&mut rest),
                '\u{90}' | '\u{98}' | '\u{9D}'..='\u{9F}' => skip_string(&mut rest),
                '\r' => self.move_to(0),
                '\x08' => self.move_to(self.cursor.saturating_sub(1)),
                c if is_control(c) => {}
                c => self.put(c),
            }
        }
        self
    }

    fn escape(&mut self, rest: &mut Peekable<Chars<'_>>) {
        match rest.peek() {
            Some('[') => {
                rest.next();
                self.control(rest);
            }
            Some(c) if is_string(*c) => skip_string(rest),
            _ => {
                while rest.next_if(|c| matches!(c, ' '..='/')).is_some() {}
                rest.next_if(|c| !is_control(*c));
            }
        }
    }

    fn control(&mut self, rest: &mut Peekable<Chars<'_>>) {
        let mut parameter = String::new();
        while let Some(c) = rest.next_if(|c| is_parameter(*c)) {
            parameter.push(c);
        }
        let Some(action) = rest.next_if(|c| matches!(c, '@'..='~')) else { return };
        let number = |absent: usize| if parameter.is_empty() { Some(absent) } else { parameter.parse().ok() };
        match action {
            'K' | 'J' => match number(0) {
                Some(0) => self.cells.truncate(self.cursor),
                Some(2) => {
                    self.cells.clear();
                    self.cursor = 0;
                }
                _ => {}
            },
            'G' => self.move_to(number(1).unwrap_or(1).saturating_sub(1)),
            'C' => self.move_to(self.cursor.saturating_add(number(1).unwrap_or(0))),
            'D' => self.move_to(self.cursor.saturating_sub(number(1).unwrap_or(0))),
            _ => {}
        }
    }

    fn move_to(&mut self, column: usize) {
        self.is_apart = column > self.cells.len();
        self.cursor = column.min(self.cells.len());
    }

    fn put(&mut self, c: char) {
        if std::mem::take(&mut self.is_apart) {
            self.cells.push(' ');
            self.cursor = self.cells.len();
        }
        match self.cells.get_mut(self.cursor) {
            Some(cell) => {
                *cell = c;
                self.is_rewritten = true;
            }
            None => self.cells.push(c),
        }
        self.cursor += 1;
    }

    fn write(&self, out: &mut String) {
        let blanks = self.cells.iter().rev().take_while(|cell| **cell == ' ').count();
        let shown = self.cells.len() - if self.is_rewritten { blanks } else { 0 };
        out.extend(self.cells.iter().take(shown));
    }
}

/// Up to its terminator; another escape ends it too, whatever follows.
fn skip_string(rest: &mut Peekable<Chars<'_>>) {
    while let Some(c) = rest.next_if(|c| *c != ESCAPE) {
        if matches!(c, '\x07' | '\u{9C}') {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
