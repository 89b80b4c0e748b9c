//! Arithmetic that cannot fail. An error in it makes bash leave out the rest of the line.

use std::iter::Peekable;

use runward_script::{Arithmetic, Expansion, Token};

use super::numbers::is_plain;
use super::walk::Walker;

/// Operators between two operands that are numbers whatever the operands are. Division fails by zero, shifts by a
/// negative count differ between machines.
const BETWEEN: [&str; 17] =
    ["+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^", "&&", "||", ","];

impl Walker<'_> {
    /// Whether evaluating this cannot fail, so that the script certainly goes on behind it.
    pub(super) fn is_certain(&self, Arithmetic { tokens }: &Arithmetic) -> bool {
        let tokens = tokens.iter().map(|(_, token)| token).peekable();
        let mut reading = TokenReader { walker: self, tokens, open: 0, divides: false, may_assign: true };
        reading.tokens.peek().is_none() || reading.whole().is_some()
    }
}

/// An expression, read as operands with operators between them; `None` is doubt.
struct TokenReader<'a, Tokens: Iterator<Item = &'a Token>> {
    walker: &'a Walker<'a>,
    tokens: Peekable<Tokens>,
    /// Parentheses that are open.
    open: usize,
    /// Whether the next operand divides.
    divides: bool,
    /// Whether an assignment may begin here: only at the beginning of an expression is its target certain.
    may_assign: bool,
}

impl<'a, Tokens: Iterator<Item = &'a Token>> TokenReader<'a, Tokens> {
    fn whole(&mut self) -> Option<()> {
        loop {
            self.operand()?;
            while self.open > 0 && self.tokens.next_if(|token| **token == Token::Operator(")")).is_some() {
                self.open -= 1;
            }
            let Some(token) = self.tokens.next() else { return (self.open == 0).then_some(()) };
            let Token::Operator(sign) = token else { return None };
            BETWEEN.contains(sign).then_some(())?;
            self.divides = matches!(*sign, "/" | "%");
            self.may_assign = *sign == "," && self.open == 0;
        }
    }

    fn operand(&mut self) -> Option<()> {
        loop {
            let token = self.tokens.next()?;
            let may_assign = std::mem::take(&mut self.may_assign);
            if std::mem::take(&mut self.divides) && !matches!(token, Token::Number(text) if text != "0") {
                return None;
            }
            let good = match token {
                Token::Number(text) => is_plain(text),
                Token::Expansion(expansion) => {
                    matches!(expansion, Expansion::Length(_)) && self.walker.is_sure(expansion)
                }
                Token::Operator("(") => {
                    self.open += 1;
                    continue;
                }
                Token::Operator("-" | "+" | "!" | "~") => continue,
                Token::Operator("++" | "--") => match self.tokens.next() {
                    Some(Token::Name(name)) => self.walker.counts_on(name),
                    _ => false,
                },
                Token::Operator(_) => false,
                Token::Name(name) => {
                    if self.assigns(name, may_assign)? {
                        self.may_assign = true;
                        continue;
                    }
                    true
                }
            };
            return good.then_some(());
        }
    }

    /// Whether a name is given a value here; `None` where that, or its value, is in doubt.
    fn assigns(&mut self, name: &str, may_assign: bool) -> Option<bool> {
        let walker = self.walker;
        let Some(Token::Operator(sign)) = self.tokens.peek().copied() else {
            return walker.holds_number(name).then_some(false);
        };
        let (assigns, good) = match *sign {
            "=" if self.open == 0 => (true, may_assign && !walker.is_read_only(name)),
            "+=" | "-=" | "*=" if self.open == 0 => (true, may_assign && walker.counts_on(name)),
            "++" | "--" => {
                self.tokens.next();
                return walker.counts_on(name).then_some(false);
            }
            _ => return walker.holds_number(name).then_some(false),
        };
        self.tokens.next();
        good.then_some(assigns)
    }
}
