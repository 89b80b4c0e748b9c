//! Expansions: parameters, substitutions, arithmetic.

use super::Unreadable;
use super::cursor::{Read, Reader, ends_word};
use super::word::{Quoting, part};
use crate::tree::{Expansion, Operation, Parameter, Part, Subscript};

fn cannot(text: &str, why: &str) -> Unreadable {
    Unreadable(format!("\"{text}\" {why}"))
}

impl Reader<'_> {
    /// Reads what starts with `$` or a backtick here.
    pub(super) fn expansion(&mut self, quoting: Quoting) -> Read<Part> {
        let expansion = match (self.peek(), self.peek_at(1), self.peek_at(2)) {
            (Some(b'`'), ..) => self.backquoted(quoting)?,
            (_, Some(b'('), Some(b'(')) => {
                self.at += 3;
                Expansion::Arithmetic(self.arithmetic("))")?)
            }
            (_, Some(b'('), _) => {
                self.at += 2;
                Expansion::Output(self.enclosed_list()?)
            }
            (_, Some(b'{'), _) => self.deeper(|this| this.braced(quoting))?,
            (_, Some(b'['), _) => return Err(cannot("$[", "is not read; write $((…))")),
            _ => return self.parameter(quoting),
        };
        Ok(part(expansion, quoting))
    }

    /// `$name` and `$1`.
    fn parameter(&mut self, quoting: Quoting) -> Read<Part> {
        self.at += 1;
        let mut name = self.identifier().to_owned();
        if name.is_empty() {
            match self.peek() {
                Some(b'@' | b'*' | b'-' | b'0'..=b'9' | b'?' | b'#' | b'$' | b'!') => {
                    name.push(self.character()?);
                }
                _ => return self.lone_dollar(quoting),
            }
        }
        Ok(part(Expansion::Parameter(Parameter { name, subscript: None }, None), quoting))
    }

    /// Brace expansion could put something behind a lone dollar sign, so unquoted it has to end its word.
    fn lone_dollar(&self, quoting: Quoting) -> Read<Part> {
        let ends = self.peek().is_none_or(ends_word);
        if quoting == Quoting::Bare && !ends {
            return Err(cannot("$", "stands alone before more text; quote it"));
        }
        Ok(Part::Dollar)
    }

    fn backquoted(&mut self, quoting: Quoting) -> Read<Expansion> {
        let mut reader = self.inside("");
        let line = reader.line().0;
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
        let list = self.deeper(|this| Reader::new(&inner, this.depth(), line).whole_script())?;
        Ok(Expansion::Output(list))
    }

    /// `${…}`.
    fn braced(&mut self, quoting: Quoting) -> Read<Expansion> {
        let start = self.at;
        self.at += 2;
        match (self.peek(), self.peek_at(1)) {
            (Some(b'!'), Some(next)) if next != b'}' => return self.keys_or_names(start),
            (Some(b'#'), Some(next)) if next != b'}' => return self.length(start),
            _ => {}
        }
        let parameter = self.named(start)?;
        let operation = self.operation(start, quoting)?;
        Ok(Expansion::Parameter(parameter, operation))
    }

    /// The parameter that an expansion in braces is about.
    fn named(&mut self, start: usize) -> Read<Parameter> {
        let name = self.identifier().to_owned();
        if !name.is_empty() {
            let subscript = self.subscript()?;
            return Ok(Parameter { name, subscript });
        }
        let rest = self.slice(self.at, self.text.len());
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let special = matches!(self.peek(), Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!'));
        let length = if digits > 0 { digits } else { usize::from(special) };
        if length == 0 {
            return Err(cannot(self.shown_from(start), "is an expansion that is not read"));
        }
        self.at += length;
        Ok(Parameter { name: rest.get(..length).unwrap_or_default().to_owned(), subscript: None })
    }

    /// `[…]` after a name.
    fn subscript(&mut self) -> Read<Option<Subscript>> {
        if self.peek() != Some(b'[') {
            return Ok(None);
        }
        for sign in ['@', '*'] {
            if self.eat(&format!("[{sign}]")) {
                return Ok(Some(Subscript::All(sign)));
            }
        }
        self.at += 1;
        Ok(Some(Subscript::One(self.arithmetic("]")?)))
    }

    /// `${!name[@]}` and `${!prefix@}`; other indirection reads a variable that nobody knows.
    fn keys_or_names(&mut self, start: usize) -> Read<Expansion> {
        self.at += 1;
        let name = self.identifier().to_owned();
        let refused = |this: &Self| {
            Err(cannot(this.shown_from(start), "reads a variable that is only known when it runs"))
        };
        if name.is_empty() {
            return refused(self);
        }
        for sign in ['@', '*'] {
            if self.eat(&format!("[{sign}]}}")) {
                return Ok(Expansion::Keys(name, sign));
            }
            if self.eat(&format!("{sign}}}")) {
                return Ok(Expansion::Names(name, sign));
            }
        }
        refused(self)
    }

    /// `${#name}`.
    fn length(&mut self, start: usize) -> Read<Expansion> {
        self.at += 1;
        let parameter = self.named(start)?;
        if !self.eat("}") {
            return Err(cannot(self.shown_from(start), "is an expansion that is not read"));
        }
        Ok(Expansion::Length(parameter))
    }

    /// What follows the name in `${name…}`, closing brace included.
    fn operation(&mut self, start: usize, quoting: Quoting) -> Read<Option<Operation>> {
        const OPERATORS: [&str; 18] = [
            ":-", ":=", ":?", ":+", "-", "=", "?", "+", "##", "#", "%%", "%", "//", "/", "^^", "^", ",,", ",",
        ];
        if self.eat("}") {
            return Ok(None);
        }
        if let Some(operator) = OPERATORS.into_iter().find(|operator| self.eat(operator)) {
            let operand = self.operand(quoting)?;
            return Ok(Some(Operation::Operand(operator.to_owned(), operand)));
        }
        if self.eat(":") {
            return Ok(Some(Operation::Slice(self.arithmetic("}")?)));
        }
        let letter = self.peek_at(1).map(char::from).filter(|letter| "QUuLaAkK".contains(*letter));
        match letter {
            Some(letter) if self.eat("@") && self.peek_at(1) == Some(b'}') => {
                self.at += 2;
                Ok(Some(Operation::Transform(letter)))
            }
            _ => Err(cannot(self.shown_from(start), "is an expansion that is not read")),
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
