//! Arithmetic: numbers, names, operators.
//!
//! Bash evaluates a variable's value as an expression again, and array subscripts in it are expanded: a value such as
//! `a[$(command)]` runs a command. So everything that would put other text into an expression is refused here, and which
//! names may be evaluated is for the judge to say.

use super::Unreadable;
use super::cursor::{Read, Reader};
use crate::tree::{Arithmetic, Expansion, Parameter, Subscript, Token};

/// Operators, longer ones before those that they begin with.
const OPERATORS: [&str; 36] = [
    "<<=", ">>=", "**", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=",
    "%=", "&=", "^=", "|=", "+", "-", "*", "/", "%", "<", ">", "=", "!", "&", "|", "^", "~", "?", ":",
];

impl Reader<'_> {
    /// Reads an expression up to and including `close`.
    pub(super) fn arithmetic(&mut self, close: &str) -> Read<Arithmetic> {
        let start = self.at;
        let (mut tokens, mut open) = (Vec::new(), 0usize);
        loop {
            let blank = self.skip_blanks_in_arithmetic();
            if open == 0 && self.eat(close) {
                return Ok(Arithmetic { tokens });
            }
            let token = self.token(start, close)?;
            match token {
                Token::Operator("(") => {
                    self.check_depth(open)?;
                    open += 1;
                }
                Token::Operator(")") => open = open.checked_sub(1).ok_or_else(|| self.no_number(start))?,
                _ => {}
            }
            tokens.push((blank, token));
        }
    }

    /// The three expressions of `for ((…))`, up to and including the parentheses.
    pub(super) fn three_expressions(&mut self) -> Read<[Arithmetic; 3]> {
        Ok([self.arithmetic(";")?, self.arithmetic(";")?, self.arithmetic("))")?])
    }

    fn skip_blanks_in_arithmetic(&mut self) -> bool {
        let start = self.at;
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n')) {
            self.at += 1;
        }
        self.at > start
    }

    fn token(&mut self, start: usize, close: &str) -> Read<Token> {
        match self.peek() {
            Some(b'$') => self.expansion_in_arithmetic(start),
            Some(byte) if byte == b'_' || byte.is_ascii_alphabetic() => {
                Ok(Token::Name(self.identifier().to_owned()))
            }
            Some(byte) if byte.is_ascii_digit() => Ok(self.number()),
            // In `${name:…}` bash takes the colon after a question mark for its own.
            Some(b'?') if close == "}" => Err(self.no_number(start)),
            _ => {
                let signs = OPERATORS.into_iter().chain(["(", ")", ","]);
                let found = signs.into_iter().find(|sign| self.starts_with(sign));
                let sign = found.ok_or_else(|| self.no_number(start))?;
                self.at += sign.len();
                Ok(Token::Operator(sign))
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

    fn number(&mut self) -> Token {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'#') {
            self.at += 1;
        }
        Token::Number(self.slice(start, self.at).to_owned())
    }

    /// `$name`, `${name}`, `${#name}`, `$#` and its like.
    fn expansion_in_arithmetic(&mut self, start: usize) -> Read<Token> {
        self.at += 1;
        let plain = |name: String| Expansion::Parameter(Parameter { name, subscript: None }, None);
        if let Some(special @ (b'#' | b'?' | b'$' | b'!')) = self.peek() {
            self.at += 1;
            return Ok(Token::Expansion(plain(char::from(special).to_string())));
        }
        if let Some(special) =
            ["#", "?", "$", "!"].into_iter().find(|special| self.eat(&format!("{{{special}}}")))
        {
            return Ok(Token::Expansion(plain(special.to_owned())));
        }
        let braced = self.eat("{");
        let length = braced && self.eat("#");
        let name = self.identifier().to_owned();
        let all = ['@', '*'].into_iter().find(|sign| length && self.eat(&format!("[{sign}]")));
        if name.is_empty() || braced && !self.eat("}") {
            return Err(self.no_number(start));
        }
        Ok(Token::Expansion(if length {
            Expansion::Length(Parameter { name, subscript: all.map(Subscript::All) })
        } else {
            plain(name)
        }))
    }
}
