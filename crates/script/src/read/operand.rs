//! What follows an operator inside `${…}`.

use super::Unreadable;
use super::cursor::{Read, Reader};
use super::word::{Pieces, Quoting};
use crate::tree::{Operand, Part};

impl Reader<'_> {
    /// The word or pattern in `${name-word}`, closing brace included. In double quotes no quote of any kind is read here,
    /// because what it means there depends on the operator.
    pub(super) fn operand(&mut self, quoting: Quoting) -> Read<Operand> {
        let mut pieces = Pieces::default();
        loop {
            match (self.peek(), self.peek_at(1)) {
                (None, _) => return Err(Unreadable("a brace is not closed".into())),
                (Some(b'}'), _) => {
                    self.at += 1;
                    return Ok(pieces.finish());
                }
                (Some(b'\\'), Some(b'\n')) | (Some(b'<' | b'>'), Some(b'(')) | (Some(b'$'), Some(b'"')) => {
                    return Err(self.unexpected());
                }
                (Some(b'$' | b'`'), _) => self.expansion_in_operand(quoting, &mut pieces)?,
                (Some(b'\\'), Some(next)) => self.escape_in_operand(next, quoting, &mut pieces)?,
                (Some(b'"'), _) if quoting == Quoting::Bare => self.double_quoted(&mut pieces)?,
                (Some(b'\''), _) if quoting == Quoting::Bare => {
                    let text = self.single_quoted()?;
                    pieces.literal(text);
                }
                (Some(b'\'' | b'"'), _) => {
                    return Err(Unreadable(
                        "a quote inside \"${…}\" means different things in different places; leave it out"
                            .into(),
                    ));
                }
                (Some(b'{'), _) => {
                    return Err(Unreadable("a brace inside \"${…}\" may end it early; leave it out".into()));
                }
                (Some(_), _) => {
                    let c = self.character()?;
                    beyond_ascii_or_bare(c, quoting, &mut pieces);
                }
            }
        }
    }

    fn expansion_in_operand(&mut self, quoting: Quoting, pieces: &mut Pieces) -> Read<()> {
        if self.peek_at(1) == Some(b'\'') {
            return self.ansi_in_operand(quoting, pieces);
        }
        match self.expansion(quoting)? {
            Part::Dollar => Err(Unreadable("a lone $ inside \"${…}\" is not read; leave it out".into())),
            part => {
                pieces.push(part);
                Ok(())
            }
        }
    }

    /// In double quotes bash undoes this before it looks for the closing brace, so it may only hold what is no sign there.
    fn ansi_in_operand(&mut self, quoting: Quoting, pieces: &mut Pieces) -> Read<()> {
        let text = self.ansi_text()?;
        if quoting == Quoting::Bare {
            pieces.literal(&text);
        } else if text.is_ascii() || text.chars().any(|c| c.is_ascii()) {
            return Err(Unreadable(
                "a quote inside \"${…}\" means different things in different places; leave it out".into(),
            ));
        } else {
            text.chars().for_each(|c| pieces.bare(c));
        }
        Ok(())
    }

    /// In double quotes a backslash is kept before most characters, and what the result means depends on the operator.
    fn escape_in_operand(&mut self, next: u8, quoting: Quoting, pieces: &mut Pieces) -> Read<()> {
        match quoting {
            Quoting::Bare => self.escaped(pieces),
            Quoting::Double | Quoting::Body if matches!(next, b'}' | b'$' | b'`' | b'\\' | b'"') => {
                self.at += 1;
                self.literal_character(pieces)
            }
            Quoting::Double | Quoting::Body => Err(Unreadable(
                "a backslash inside \"${…}\" means different things in different places; leave it out".into(),
            )),
        }
    }
}

/// Outside double quotes it makes no difference whether a character beyond ASCII is quoted.
fn beyond_ascii_or_bare(c: char, quoting: Quoting, pieces: &mut Pieces) {
    if quoting == Quoting::Bare && !c.is_ascii() {
        pieces.literal(c.encode_utf8(&mut [0; 4]));
    } else {
        pieces.bare(c);
    }
}
