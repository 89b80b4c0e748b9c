//! `[[ … ]]`, by bash's own grammar for it.

use super::Unreadable;
use super::cursor::{Read, Reader};
use crate::tree::{Condition, Word};

const UNARY: &str = "abcdefghknoprstuvwxzGLNOSR";
const BINARY: [&str; 13] =
    ["==", "=", "!=", "=~", "-nt", "-ot", "-ef", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Reader<'_> {
    /// Reads from after `[[` to after `]]`.
    pub(super) fn condition(&mut self) -> Read<Condition> {
        let condition = self.alternatives()?;
        self.skip_newlines()?;
        self.expect_bare_word("]]")?;
        Ok(condition)
    }

    fn alternatives(&mut self) -> Read<Condition> {
        let first = self.requirements()?;
        self.skip_newlines()?;
        if !self.eat("||") {
            return Ok(first);
        }
        let rest = self.deeper(Reader::alternatives)?;
        Ok(Condition::Or(Box::new(first), Box::new(rest)))
    }

    fn requirements(&mut self) -> Read<Condition> {
        let first = self.term()?;
        self.skip_newlines()?;
        if !self.eat("&&") {
            return Ok(first);
        }
        let rest = self.deeper(Reader::requirements)?;
        Ok(Condition::And(Box::new(first), Box::new(rest)))
    }

    fn term(&mut self) -> Read<Condition> {
        self.skip_newlines()?;
        if self.eat("(") {
            let inner = self.deeper(Reader::alternatives)?;
            self.skip_newlines()?;
            self.expect(")")?;
            return Ok(Condition::Group(Box::new(inner)));
        }
        let bare = self.bare_word();
        if bare == "!" {
            self.at += 1;
            return Ok(Condition::Not(Box::new(self.deeper(Reader::term)?)));
        }
        if bare == "]]" {
            return Err(self.unexpected());
        }
        if let Some(letter) = bare.strip_prefix('-').filter(|rest| rest.len() == 1 && UNARY.contains(rest)) {
            self.at += bare.len();
            self.skip_blanks()?;
            return Ok(Condition::Unary(format!("-{letter}"), self.operand_of_test()?));
        }
        let first = self.operand_of_test()?;
        self.skip_newlines()?;
        self.comparison(first)
    }

    fn comparison(&mut self, first: Word) -> Read<Condition> {
        let bare = self.bare_word();
        let sign = BINARY.into_iter().find(|sign| *sign == bare);
        let substitution = self.starts_with("<(") || self.starts_with(">(");
        let order = ["<", ">"].into_iter().find(|sign| !substitution && self.starts_with(sign));
        let Some(operator) = sign.or(order) else { return Ok(Condition::Word(first)) };
        self.at += operator.len();
        self.skip_blanks()?;
        if operator == "=~" && self.peek() == Some(b'(') {
            return Err(Unreadable(
                "a regular expression with bare parentheses is not read; keep it in a variable".into(),
            ));
        }
        let second = if operator == "=~" { self.regular_expression()? } else { self.operand_of_test()? };
        if operator == "=~" && matches!(self.peek(), Some(b'|' | b'(' | b')' | b'<' | b'>')) {
            return Err(self.unexpected());
        }
        Ok(Condition::Binary(first, operator.to_owned(), second))
    }

    /// A word between blanks that is not the end.
    fn operand_of_test(&mut self) -> Read<Word> {
        if self.bare_word() == "]]" {
            return Err(self.unexpected());
        }
        self.subject()
    }
}
