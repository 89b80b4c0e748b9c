//! A text as a YAML scalar: a literal block where that is certainly safe, else double-quoted.

use std::fmt::Write as _;

use super::text::Text;

const INDENT: &str = "  ";

/// A text and the way to write it, chosen by one look at it.
#[derive(Debug)]
pub(super) struct Scalar<'a> {
    text: &'a Text<'a>,
    survey: Survey,
}

impl<'a> Scalar<'a> {
    /// Looks at a text.
    pub(super) fn of(text: &'a Text<'a>) -> Self {
        let mut survey = Survey::default();
        for piece in text.pieces() {
            survey.add(piece);
        }
        Scalar { text, survey }
    }

    /// At least as many bytes as it takes when written.
    pub(super) fn size(&self) -> usize {
        if self.survey.is_block() { self.survey.as_block + 8 } else { self.survey.as_quoted + 3 }
    }

    /// Writes it and the end of its line.
    pub(super) fn write(&self, out: &mut String) {
        if self.survey.as_quoted == 0 {
            out.push_str("''\n");
        } else if self.survey.is_block() {
            self.write_block(out);
        } else {
            self.write_quoted(out);
        }
    }

    fn write_block(&self, out: &mut String) {
        out.push('|');
        if self.survey.first.is_some_and(char::is_whitespace) {
            // Indentation cannot be detected from a first line that begins with white space or is empty.
            out.push('2');
        }
        out.push_str(match self.survey.trailing_newlines {
            0 => "-\n",
            1 => "\n",
            _ => "+\n",
        });
        let mut at_line_start = true;
        for line in self.text.pieces().flat_map(|piece| piece.split_inclusive('\n')) {
            if at_line_start && line != "\n" {
                out.push_str(INDENT);
            }
            out.push_str(line);
            at_line_start = line.ends_with('\n');
        }
        if !at_line_start {
            out.push('\n');
        }
    }

    fn write_quoted(&self, out: &mut String) {
        out.push('"');
        for run in self.text.pieces().flat_map(|piece| piece.split_inclusive(is_escaped)) {
            let mut letters = run.chars();
            match letters.next_back() {
                Some(last) if is_escaped(last) => {
                    out.push_str(letters.as_str());
                    write_escape(out, last);
                }
                _ => out.push_str(run),
            }
        }
        out.push_str("\"\n");
    }
}

/// What a look at a text tells.
#[derive(Debug, Default)]
struct Survey {
    first: Option<char>,
    /// Whether the line so far holds more than white space.
    line_is_inked: bool,
    /// Whether the last line that is not empty holds more than white space.
    ends_inked: bool,
    has_unprintable: bool,
    trailing_newlines: usize,
    as_block: usize,
    as_quoted: usize,
}

impl Survey {
    fn add(&mut self, piece: &str) {
        self.first = self.first.or_else(|| piece.chars().next());
        for letter in piece.chars() {
            let newline = letter == '\n';
            self.line_is_inked = !newline && (self.line_is_inked || !matches!(letter, ' ' | '\t'));
            self.ends_inked = if newline { self.ends_inked } else { self.line_is_inked };
            self.has_unprintable |= is_unprintable(letter);
            self.trailing_newlines = if newline { self.trailing_newlines + 1 } else { 0 };
            self.as_block += letter.len_utf8() + if newline { INDENT.len() } else { 0 };
            self.as_quoted += quoted_size(letter);
        }
    }

    /// Parsers disagree on a last line of nothing but white space.
    const fn is_block(&self) -> bool {
        self.ends_inked && !self.has_unprintable
    }
}

/// Control characters, the line breaks of YAML 1.1, the byte order mark and non-characters: nothing that a parser
/// might refuse, fold or swallow when it stands in a block.
const fn is_unprintable(letter: char) -> bool {
    !matches!(letter, '\t' | '\n' | ' '..='~')
        && matches!(
            letter,
            '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}'
        )
}

const fn is_escaped(letter: char) -> bool {
    matches!(letter, '"' | '\\' | '\t' | '\n') || is_unprintable(letter)
}

/// The letter after the backslash, for the characters that have one.
const fn short_escape(letter: char) -> Option<char> {
    Some(match letter {
        '"' => '"',
        '\\' => '\\',
        '\0' => '0',
        '\u{07}' => 'a',
        '\u{08}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{0B}' => 'v',
        '\u{0C}' => 'f',
        '\r' => 'r',
        '\u{1B}' => 'e',
        _ => return None,
    })
}

const fn quoted_size(letter: char) -> usize {
    match letter {
        letter if !is_escaped(letter) => letter.len_utf8(),
        letter if short_escape(letter).is_some() => 2,
        '\0'..='\u{FF}' => 4,
        _ => 6,
    }
}

fn write_escape(out: &mut String, letter: char) {
    let code = u32::from(letter);
    let _ = match short_escape(letter) {
        Some(short) => write!(out, "\\{short}"),
        None if code <= 0xFF => write!(out, "\\x{code:02X}"),
        None => write!(out, "\\u{code:04X}"),
    };
}
