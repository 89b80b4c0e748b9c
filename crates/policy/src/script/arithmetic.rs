//! Arithmetic: numbers, operators, and variables that are certain to hold numbers.
//!
//! Bash evaluates a variable's value as an expression again, and array subscripts in it are expanded: a value
//! such as `a[$(command)]` runs a command. So every name is noted for the judge, and everything that would put
//! other text into an expression is refused.

use super::cursor::{Read, Reader, Unreadable};
use super::facts::{Fact, Word};
use crate::builtins::is_identifier;

impl Reader<'_> {
    /// Reads an expression up to and including `close`.
    pub(super) fn arithmetic(&mut self, close: &str) -> Read<()> {
        let start = self.at;
        let mut open = 0usize;
        loop {
            if open == 0 && self.eat(close) {
                return Ok(());
            }
            match self.peek() {
                Some(b'(') => {
                    self.check_depth(open)?;
                    open += 1;
                    self.at += 1;
                }
                Some(b')') if open > 0 => {
                    open -= 1;
                    self.at += 1;
                }
                Some(b'$') => self.counted_expansion(start)?,
                Some(byte) if byte == b'_' || byte.is_ascii_alphabetic() => self.counted_name(),
                Some(byte) if byte.is_ascii_digit() => self.constant(),
                Some(b';') if close == "))" => self.at += 1,
                Some(b'?') if close == "}" => return Err(self.no_number(start)),
                Some(
                    b' ' | b'\t' | b'\n' | b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'!'
                    | b'&' | b'|' | b'^' | b'~' | b'?' | b':' | b',',
                ) => self.at += 1,
                _ => return Err(self.no_number(start)),
            }
        }
    }

    fn no_number(&self, start: usize) -> Unreadable {
        let shown: String =
            self.slice(start, self.text.len()).lines().next().unwrap_or_default().chars().take(40).collect();
        Unreadable(format!(
            "arithmetic on \"{shown}\" could run what its values say; use numbers and variables that hold numbers"
        ))
    }

    fn constant(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'#') {
            self.at += 1;
        }
    }

    fn counted_name(&mut self) {
        let name = self.identifier().to_owned();
        let rest = self.text.get(self.at..).unwrap_or_default().trim_start();
        if rest.starts_with('=') && !rest.starts_with("==") {
            self.facts.push(Fact::Assigned { name: name.clone(), number: true });
        }
        self.facts.push(Fact::Counted(name));
    }

    fn counted_expansion(&mut self, start: usize) -> Read<()> {
        self.at += 1;
        if matches!(self.peek(), Some(b'#' | b'?' | b'$' | b'!')) {
            self.at += 1;
            return Ok(());
        }
        let braced = self.eat("{");
        let size = braced && self.eat("#");
        let name = self.identifier().to_owned();
        let whole = size && (self.eat("[@]") || self.eat("[*]"));
        if name.is_empty() || braced && !self.eat("}") {
            return Err(self.no_number(start));
        }
        if !size && !whole {
            self.facts.push(Fact::Counted(name));
        }
        Ok(())
    }

    /// Notes that a word of `[[ … ]]` is evaluated; refuses what is neither a number nor a variable.
    pub(super) fn counted_word(&mut self, word: &Word) -> Read<()> {
        if word.is_number() {
            return Ok(());
        }
        let bare = word.raw.trim_matches('"');
        let name = bare.strip_prefix('$').unwrap_or(bare);
        let name = name.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(name);
        if !is_identifier(name) {
            return Err(Unreadable(format!(
                "arithmetic on \"{}\" could run what its values say; use numbers and variables that hold numbers",
                word.raw
            )));
        }
        self.facts.push(Fact::Counted(name.to_owned()));
        Ok(())
    }
}
