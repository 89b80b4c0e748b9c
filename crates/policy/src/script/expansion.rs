//! Expansions: parameters, substitutions, arithmetic.

use super::cursor::{Read, Reader, Unreadable};
use super::facts::Fact;
use super::word::Draft;

/// What stands around an expansion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Nothing.
    Bare,
    /// Double quotes.
    Double,
    /// A here-document that is expanded.
    Body,
}

/// What an expansion becomes.
pub(super) enum Expanded {
    /// A dollar sign that expands nothing.
    Dollar,
    /// A plain integer.
    Number,
    /// Part of one word.
    One,
    /// Any number of words.
    Many,
}

impl Quoting {
    fn words(self) -> Expanded {
        if self == Quoting::Bare { Expanded::Many } else { Expanded::One }
    }
}

fn cannot(text: &str, why: &str) -> Unreadable {
    Unreadable(format!("\"{text}\" {why}"))
}

impl Reader<'_> {
    /// Reads what starts with `$` or a backtick here.
    pub(super) fn expansion(&mut self, quoting: Quoting) -> Read<Expanded> {
        let start = self.at;
        let expanded = match (self.peek(), self.peek_at(1), self.peek_at(2)) {
            (Some(b'`'), ..) => self.backquoted(quoting)?,
            (_, Some(b'('), Some(b'(')) => {
                self.at += 3;
                self.arithmetic("))")?;
                Expanded::Number
            }
            (_, Some(b'('), _) => {
                self.at += 2;
                self.enclosed_list()?;
                quoting.words()
            }
            (_, Some(b'{'), _) => self.deeper(|this| this.braced(quoting))?,
            (_, Some(b'['), _) => return Err(cannot("$[", "is not read; write $((…))")),
            _ => return self.parameter(quoting),
        };
        self.hole(start, "${_}");
        Ok(expanded)
    }

    /// `$name` and `$1`, which the second reader sees as they are.
    fn parameter(&mut self, quoting: Quoting) -> Read<Expanded> {
        self.at += 1;
        if !self.identifier().is_empty() {
            return Ok(quoting.words());
        }
        let next = self.peek();
        let expanded = match next {
            Some(b'@') => Expanded::Many,
            Some(b'*' | b'-' | b'0'..=b'9') => quoting.words(),
            Some(b'?' | b'#' | b'$' | b'!') => Expanded::Number,
            _ => return self.lone_dollar(quoting),
        };
        self.at += 1;
        Ok(expanded)
    }

    /// Brace expansion could put something behind a lone dollar sign, so unquoted it has to end its word.
    fn lone_dollar(&self, quoting: Quoting) -> Read<Expanded> {
        let ends = self.peek().is_none_or(super::cursor::ends_word);
        if quoting == Quoting::Bare && !ends {
            return Err(cannot("$", "stands alone before more text; quote it"));
        }
        Ok(Expanded::Dollar)
    }

    fn backquoted(&mut self, quoting: Quoting) -> Read<Expanded> {
        self.at += 1;
        let mut inner = String::new();
        loop {
            match self.character().map_err(|_| Unreadable("a backtick is not closed".into()))? {
                '`' => break,
                '\\' => match self.peek() {
                    Some(b'`' | b'\\' | b'$') => inner.push(self.character()?),
                    Some(b'"') if quoting == Quoting::Double => inner.push(self.character()?),
                    _ => inner.push('\\'),
                },
                c => inner.push(c),
            }
        }
        self.deeper(|this| this.inside(&inner).whole_script())?;
        Ok(quoting.words())
    }

    /// `<(…)` or `>(…)`.
    pub(super) fn process_substitution(&mut self) -> Read<()> {
        let start = self.at;
        self.at += 2;
        self.enclosed_list()?;
        self.hole(start, "${_}");
        Ok(())
    }

    /// `${…}`.
    fn braced(&mut self, quoting: Quoting) -> Read<Expanded> {
        let start = self.at;
        self.at += 2;
        match (self.peek(), self.peek_at(1)) {
            (Some(b'!'), _) => return self.keys_or_names(start),
            (Some(b'#'), Some(next)) if next != b'}' => return self.size(start),
            _ => {}
        }
        let name_start = self.at;
        let named = !self.identifier().is_empty();
        if !named && !self.special_parameter() {
            return Err(cannot(self.shown_from(start), "is an expansion that is not read"));
        }
        let name = self.slice(name_start, self.at).to_owned();
        let all = self.subscript(named)? || name == "@";
        self.operation(start, &name, quoting)?;
        Ok(if all || quoting == Quoting::Bare { Expanded::Many } else { Expanded::One })
    }

    fn special_parameter(&mut self) -> bool {
        let digits =
            self.text.get(self.at..).map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
        let special = matches!(self.peek(), Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!'));
        self.at += if digits > 0 { digits } else { usize::from(special) };
        digits > 0 || special
    }

    /// `[…]` after a name; whether it stands for all elements.
    fn subscript(&mut self, named: bool) -> Read<bool> {
        if !named || self.peek() != Some(b'[') {
            return Ok(false);
        }
        if self.eat("[@]") || self.eat("[*]") {
            return Ok(true);
        }
        self.at += 1;
        self.arithmetic("]")?;
        Ok(false)
    }

    /// `${!name[@]}` and `${!prefix@}`; other indirection reads a variable that nobody knows.
    fn keys_or_names(&mut self, start: usize) -> Read<Expanded> {
        self.at += 1;
        let named = !self.identifier().is_empty();
        let listed = self.eat("[@]}") || self.eat("[*]}") || self.eat("@}") || self.eat("*}");
        if !named || !listed {
            return Err(cannot(self.shown_from(start), "reads a variable that is only known when it runs"));
        }
        Ok(Expanded::Many)
    }

    /// `${#name}`.
    fn size(&mut self, start: usize) -> Read<Expanded> {
        self.at += 1;
        let named = !self.identifier().is_empty();
        let known = named || self.special_parameter();
        self.subscript(named)?;
        if !known || !self.eat("}") {
            return Err(cannot(self.shown_from(start), "is an expansion that is not read"));
        }
        Ok(Expanded::Number)
    }

    /// What follows the name in `${name…}`, closing brace included.
    fn operation(&mut self, start: usize, name: &str, quoting: Quoting) -> Read<()> {
        let colon = self.peek() == Some(b':') && matches!(self.peek_at(1), Some(b'-' | b'=' | b'?' | b'+'));
        self.at += usize::from(colon);
        match self.peek() {
            Some(b'}') => {
                self.at += 1;
                Ok(())
            }
            Some(b'=') => {
                self.facts.push(Fact::Assigned { name: name.to_owned(), number: false });
                self.at += 1;
                self.operand(quoting)
            }
            Some(b':') => {
                self.at += 1;
                self.arithmetic("}")
            }
            Some(b'@')
                if matches!(self.peek_at(1), Some(b'Q' | b'U' | b'u' | b'L' | b'a' | b'A' | b'k' | b'K'))
                    && self.peek_at(2) == Some(b'}') =>
            {
                self.at += 3;
                Ok(())
            }
            Some(b'-' | b'?' | b'+' | b'#' | b'%' | b'/' | b'^' | b',') => {
                self.at += 1;
                self.operand(quoting)
            }
            _ => Err(cannot(self.shown_from(start), "is an expansion that is not read")),
        }
    }

    /// The word or pattern in `${name-word}`, closing brace included. Only its boundaries and what it expands matter.
    fn operand(&mut self, quoting: Quoting) -> Read<()> {
        loop {
            match (self.peek(), self.peek_at(1)) {
                (None, _) => return Err(Unreadable("a brace is not closed".into())),
                (Some(b'}'), _) => {
                    self.at += 1;
                    return Ok(());
                }
                (Some(b'\\'), Some(b'\n')) | (Some(b'<' | b'>'), Some(b'(')) | (Some(b'$'), Some(b'\'')) => {
                    return Err(self.unexpected());
                }
                (Some(b'\\'), Some(_)) => {
                    self.at += 1;
                    self.character()?;
                }
                (Some(b'$'), Some(b'"')) => return Err(self.unexpected()),
                (Some(b'$' | b'`'), _) => {
                    self.expansion(quoting)?;
                }
                (Some(b'"'), _) if quoting != Quoting::Body => self.double_quoted(&mut Draft::default())?,
                (Some(b'\''), _) if quoting == Quoting::Bare => {
                    self.single_quoted()?;
                }
                (Some(b'\'' | b'"'), _) => {
                    return Err(Unreadable(
                        "a quote inside \"${…}\" means different things in different places; leave it out"
                            .into(),
                    ));
                }
                (Some(_), _) => {
                    self.character()?;
                }
            }
        }
    }

    fn shown_from(&self, start: usize) -> &str {
        let end = self
            .text
            .get(self.at..)
            .and_then(|rest| rest.find('}'))
            .map_or(self.text.len(), |more| self.at + more + 1);
        self.slice(start, end)
    }
}
