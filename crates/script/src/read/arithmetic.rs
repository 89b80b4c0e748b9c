//! Arithmetic: numbers, names, operators.
//!
//! Bash evaluates a variable's value as an expression again, and array subscripts in it are expanded: a value such as
//! `a[$(command)]` runs a command. So everything that would put other text into an expression is refused here, and which
//! names may be evaluated is for the judge to say.

use super::Unreadable;
use super::cursor::{Read, Reader};
use super::word::Quoting;
use crate::names::is_identifier;
use crate::tree::{Arithmetic, Expansion, Operation, Parameter, Part, Subscript, Token};

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
            Some(b'$' | b'`') => self.expansion_in_arithmetic(start, close),
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

    /// `$name`, `${name…}`, `$#` and its like, and `$(…)`: whatever is one value.
    fn expansion_in_arithmetic(&mut self, start: usize, close: &str) -> Read<Token> {
        if self.starts_with("$((") || self.starts_with("$[") {
            return Err(self.no_number(start));
        }
        // Bash expands an expression as if it stood in double quotes.
        match self.deeper(|this| this.expansion(Quoting::Double))? {
            Part::Expansion { expansion, .. }
                if is_one(&expansion) && (close == "))" || is_simple(&expansion)) =>
            {
                Ok(Token::Expansion(expansion))
            }
            _ => Err(self.no_number(start)),
        }
    }
}

/// Whether an expansion is one value, and no text that would become part of the expression unseen.
fn is_one(expansion: &Expansion) -> bool {
    match expansion {
        Expansion::Output(_) | Expansion::Length(_) => true,
        Expansion::Parameter(Parameter { name, subscript }, operation) => {
            let one =
                !matches!(name.as_str(), "@" | "*" | "-") && !matches!(subscript, Some(Subscript::All(_)));
            one && operation.as_ref().is_none_or(falls_back_on_number)
        }
        Expansion::Arithmetic(_) | Expansion::Keys(..) | Expansion::Names(..) => false,
    }
}

/// Whether it may stand in brackets too, where bash reads more than it expands.
fn is_simple(expansion: &Expansion) -> bool {
    match expansion {
        Expansion::Length(Parameter { subscript, .. }) => !matches!(subscript, Some(Subscript::One(_))),
        Expansion::Parameter(Parameter { name, subscript: None }, None) => {
            !name.bytes().any(|byte| byte.is_ascii_digit()) || is_identifier(name)
        }
        _ => false,
    }
}

/// `${name:-0}`
fn falls_back_on_number(operation: &Operation) -> bool {
    let Operation::Operand(sign, parts) = operation else { return false };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(sign.as_str(), ":-" | "-")
        && matches!(parts.as_slice(), [Part::Bare(text) | Part::Literal(text)] if digits(text))
}
