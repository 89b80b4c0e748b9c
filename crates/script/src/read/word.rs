//! Words: quoting.

use super::Unreadable;
use super::ansi_c;
use super::cursor::{Read, Reader, ends_word};
use crate::tree::{Direction, Expansion, Part, Word};

/// What stands around a piece of text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Nothing.
    Bare,
    /// Double quotes.
    Double,
    /// A here-document that is expanded.
    Body,
}

/// Pieces of a word as far as it has been read.
#[derive(Default)]
pub(super) struct Pieces(Vec<Part>);

impl Pieces {
    /// Adds text that stands for itself; the empty text counts, since it makes an empty word a word.
    pub(super) fn literal(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Part::Literal(last)) => last.push_str(text),
            _ => self.0.push(Part::Literal(text.to_owned())),
        }
    }

    pub(super) fn bare(&mut self, c: char) {
        match self.0.last_mut() {
            Some(Part::Bare(last)) => last.push(c),
            _ => self.0.push(Part::Bare(c.to_string())),
        }
    }

    pub(super) fn push(&mut self, part: Part) {
        self.0.push(part);
    }

    /// The pieces as they are. Empty text beside other text adds nothing; beside an expansion it keeps a word from
    /// vanishing.
    pub(super) fn finish(self) -> Vec<Part> {
        let parts = self.0;
        let is_empty = |part: &Part| matches!(part, Part::Literal(text) if text.is_empty());
        let is_text =
            |part: &Part| matches!(part, Part::Bare(_) | Part::Literal(_) | Part::Dollar) && !is_empty(part);
        if parts.iter().any(is_text) {
            return merged(parts.into_iter().filter(|part| !is_empty(part)));
        }
        parts
    }

    /// The pieces of a word: unquoted text in which nothing is active is text like any other.
    fn of_word(self) -> Vec<Part> {
        let parts = self.finish();
        let bare: String = parts
            .iter()
            .filter_map(|part| if let Part::Bare(text) = part { Some(text.as_str()) } else { None })
            .collect();
        let both = |open: char, close: char| bare.contains(open) && bare.contains(close);
        let expands = |part: &Part| matches!(part, Part::Expansion { .. } | Part::Process(..));
        // One of a pair is no pattern, and must not come to stand alone: bare, it could be a reserved word.
        let active =
            bare.contains(['*', '?', '~']) || both('[', ']') || both('{', '}') || parts.iter().any(expands);
        let tamed = |part: Part| match part {
            Part::Bare(text) if active => tamed(&text),
            Part::Bare(text) => vec![Part::Literal(text)],
            Part::Dollar => vec![Part::Literal("$".to_owned())],
            part => vec![part],
        };
        merged(parts.into_iter().flat_map(tamed))
    }
}

/// Unquoted text with everything made literal that means nothing in a pattern, in braces or after a tilde.
fn tamed(text: &str) -> Vec<Part> {
    let stays = |c: char| c.is_ascii_alphanumeric() || "_./:@%+,-=^!*?[]{}~".contains(c);
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|c| stays(c) != stays(first)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(length);
        parts.push(if stays(first) { Part::Bare(run.to_owned()) } else { Part::Literal(run.to_owned()) });
        rest = after;
    }
    parts
}

/// Pieces of one kind that came to stand next to each other become one.
fn merged(parts: impl Iterator<Item = Part>) -> Vec<Part> {
    let mut out: Vec<Part> = Vec::new();
    for part in parts {
        match (out.last_mut(), part) {
            (Some(Part::Literal(last)), Part::Literal(text)) | (Some(Part::Bare(last)), Part::Bare(text)) => {
                last.push_str(&text);
            }
            (_, part) => out.push(part),
        }
    }
    out
}

impl Word {
    /// A word that is this text.
    pub fn literal(text: &str) -> Self {
        Word { parts: vec![Part::Literal(text.to_owned())], raw: text.to_owned() }
    }
}

impl Reader<'_> {
    /// Reads one word; its raw text is empty when none starts here.
    pub(super) fn word(&mut self) -> Read<Word> {
        let start = self.at;
        let parts = self.pieces()?.of_word();
        Ok(Word { parts, raw: self.slice(start, self.at).to_owned() })
    }

    /// Reads a regular expression, in which unquoted signs have meanings of their own.
    pub(super) fn regular_expression(&mut self) -> Read<Word> {
        let start = self.at;
        let parts = self.pieces()?.finish();
        let odd = |c: char| !(c.is_ascii_alphanumeric() || "_./:@%+,-=^!*?[]{}~".contains(c));
        if self.at == start || parts.iter().any(|part| matches!(part, Part::Bare(text) if text.contains(odd)))
        {
            return Err(Unreadable("this regular expression is not read; keep it in a variable".into()));
        }
        Ok(Word { parts, raw: self.slice(start, self.at).to_owned() })
    }

    fn pieces(&mut self) -> Read<Pieces> {
        let mut pieces = Pieces::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    let direction = if byte == b'<' { Direction::From } else { Direction::To };
                    self.at += 2;
                    pieces.push(Part::Process(direction, self.enclosed_list()?));
                }
                _ if ends_word(byte) => break,
                _ => self.piece(byte, &mut pieces)?,
            }
        }
        Ok(pieces)
    }

    /// A word that has to be there.
    pub(super) fn subject(&mut self) -> Read<Word> {
        let start = self.at;
        let word = self.word()?;
        if self.at == start || self.peek() == Some(b'(') { Err(self.unexpected()) } else { Ok(word) }
    }

    fn piece(&mut self, byte: u8, pieces: &mut Pieces) -> Read<()> {
        match (byte, self.peek_at(1)) {
            (b'\'', _) => {
                let text = self.single_quoted()?;
                pieces.literal(text);
            }
            (b'"', _) => self.double_quoted(pieces)?,
            (b'\\', _) => self.escaped(pieces)?,
            (b'$', Some(b'\'')) => self.ansi_quoted(pieces)?,
            // A message catalogue could translate this text. It is written without the dollar sign, which none does.
            (b'$', Some(b'"')) => {
                self.at += 1;
                self.double_quoted(pieces)?;
            }
            (b'$' | b'`', _) => {
                let part = self.expansion(Quoting::Bare)?;
                pieces.push(part);
            }
            _ => {
                let c = self.character()?;
                pieces.bare(c);
            }
        }
        Ok(())
    }

    /// Reads an expansion in quotes.
    pub(super) fn quoted_expansion(&mut self, quoting: Quoting, pieces: &mut Pieces) -> Read<()> {
        match self.expansion(quoting)? {
            Part::Dollar => pieces.literal("$"),
            part => pieces.push(part),
        }
        Ok(())
    }

    pub(super) fn literal_character(&mut self, pieces: &mut Pieces) -> Read<()> {
        let start = self.at;
        self.character()?;
        pieces.literal(self.slice(start, self.at));
        Ok(())
    }

    /// The character after a backslash that stands outside quotes.
    pub(super) fn escaped(&mut self, pieces: &mut Pieces) -> Read<()> {
        self.at += 1;
        if self.peek() == Some(b'\n') {
            return Err(Unreadable(
                "a line continues in the middle of a word; put a space before the backslash".into(),
            ));
        }
        self.literal_character(pieces)
    }

    pub(super) fn single_quoted(&mut self) -> Read<&'_ str> {
        let start = self.at + 1;
        let rest = self.text.get(start..).unwrap_or_default();
        let length = rest.find('\'').ok_or_else(|| Unreadable("a single quote is not closed".into()))?;
        self.at = start + length + 1;
        Ok(self.slice(start, start + length))
    }

    fn ansi_quoted(&mut self, pieces: &mut Pieces) -> Read<()> {
        let text = self.ansi_text()?;
        pieces.literal(&text);
        Ok(())
    }

    /// What `$'…'` stands for.
    pub(super) fn ansi_text(&mut self) -> Read<String> {
        let start = self.at + 2;
        let rest = self.text.get(start..).unwrap_or_default();
        let length = ansi_c::length(rest).ok_or_else(|| Unreadable("a single quote is not closed".into()))?;
        self.at = start + length + 1;
        let inside = self.slice(start, start + length);
        ansi_c::decode(inside)
            .ok_or_else(|| Unreadable(format!("what $'{inside}' stands for is not certain")))
    }

    /// Reads from one double quote to the next.
    pub(super) fn double_quoted(&mut self, pieces: &mut Pieces) -> Read<()> {
        self.at += 1;
        if self.peek() == Some(b'"') {
            pieces.literal("");
        }
        loop {
            match self.peek() {
                None => return Err(Unreadable("a double quote is not closed".into())),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escaped_in_quotes(pieces)?,
                Some(b'$' | b'`') => self.quoted_expansion(Quoting::Double, pieces)?,
                Some(_) => self.literal_character(pieces)?,
            }
        }
    }

    fn escaped_in_quotes(&mut self, pieces: &mut Pieces) -> Read<()> {
        let joins =
            self.previous().is_some_and(|byte| byte == b'$' || byte == b'_' || byte.is_ascii_alphanumeric());
        self.at += 1;
        match self.peek() {
            Some(b'\n') if joins => Err(Unreadable(
                "a line continues in the middle of a word; put a space before the backslash".into(),
            )),
            Some(b'\n') => {
                self.at += 1;
                pieces.literal("");
                Ok(())
            }
            Some(b'$' | b'`' | b'"' | b'\\') => self.literal_character(pieces),
            _ => {
                pieces.literal("\\");
                Ok(())
            }
        }
    }
}

/// A quoted or unquoted expansion as a piece of a word.
pub(super) fn part(expansion: Expansion, quoting: Quoting) -> Part {
    Part::Expansion { expansion, quoted: quoting != Quoting::Bare }
}
