//! Expansions and arithmetic.

use super::{Dialect, Writer, Written};
use crate::tree::{Arithmetic, Expansion, Operation, Parameter, Part, Subscript, Token};

impl Writer {
    pub(super) fn expansion(&mut self, expansion: &Expansion, quoted: bool) -> Written {
        match expansion {
            Expansion::Parameter(parameter, operation) => {
                self.push("${");
                self.parameter(parameter)?;
                if let Some(operation) = operation {
                    self.operation(operation, quoted)?;
                }
                self.push("}");
            }
            Expansion::Length(parameter) => {
                self.push("${#");
                self.parameter(parameter)?;
                self.push("}");
            }
            Expansion::Keys(name, sign) => {
                self.only_bash("${!")?;
                self.push(&format!("${{!{name}[{sign}]}}"));
            }
            Expansion::Names(name, sign) => {
                self.only_bash("${!")?;
                self.push(&format!("${{!{name}{sign}}}"));
            }
            Expansion::Output(list) => {
                self.push("$( ");
                self.enclosed(list)?;
                self.push(" )");
            }
            Expansion::Arithmetic(expression) => {
                self.push("$((");
                self.arithmetic(expression)?;
                self.push("))");
            }
        }
        Ok(())
    }

    fn parameter(&mut self, parameter: &Parameter) -> Written {
        self.push(&parameter.name);
        let Some(subscript) = &parameter.subscript else { return Ok(()) };
        self.only_bash("an array")?;
        self.push("[");
        match subscript {
            Subscript::All(sign) => self.push(&sign.to_string()),
            Subscript::One(expression) => self.arithmetic(expression)?,
        }
        self.push("]");
        Ok(())
    }

    fn operation(&mut self, operation: &Operation, quoted: bool) -> Written {
        match operation {
            Operation::Operand(operator, operand) => {
                if operator.starts_with(['/', '^', ',']) {
                    self.only_bash("this expansion")?;
                }
                self.push(operator);
                operand.iter().try_for_each(|part| self.operand(part, quoted))
            }
            Operation::Slice(expression) => {
                self.only_bash("this expansion")?;
                self.push(":");
                self.arithmetic(expression)
            }
            Operation::Transform(letter) => {
                self.only_bash("this expansion")?;
                self.push(&format!("@{letter}"));
                Ok(())
            }
        }
    }

    /// A piece of what follows an operator. Outside double quotes quotes are what they are elsewhere; inside them the
    /// reader lets nothing through that would need any, but for characters beyond ASCII and those behind a backslash.
    fn operand(&mut self, part: &Part, quoted: bool) -> Written {
        match part {
            Part::Expansion { expansion, quoted: inner } => {
                let quote = if *inner && !quoted { "\"" } else { "" };
                self.push(quote);
                self.expansion(expansion, *inner)?;
                self.push(quote);
            }
            Part::Literal(text) if !quoted => self.literal(text),
            Part::Literal(text) => {
                for c in text.chars() {
                    self.push(&format!("\\{c}"));
                }
            }
            Part::Bare(text) => self.bare_operand(text),
            Part::Dollar | Part::Process(..) => return Err("this expansion"),
        }
        Ok(())
    }

    /// Unquoted text inside braces, where operators are plain text: everything stays as it is.
    fn bare_operand(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let length = rest.find(|c: char| !c.is_ascii()).unwrap_or(rest.len());
            let (plain, after) = rest.split_at(length);
            self.push(plain);
            self.line += plain.bytes().filter(|byte| *byte == b'\n').count();
            let length = after.find(|c: char| c.is_ascii()).unwrap_or(after.len());
            let (beyond, after) = after.split_at(length);
            match self.dialect {
                // Bash undoes this before it looks for the closing brace, and no byte of it is one.
                Dialect::Bash if !beyond.is_empty() => self.literal(beyond),
                _ => self.push(beyond),
            }
            rest = after;
        }
    }

    pub(super) fn arithmetic(&mut self, expression: &Arithmetic) -> Written {
        for (blank, token) in &expression.tokens {
            if *blank {
                self.push(" ");
            }
            match token {
                Token::Number(text) | Token::Name(text) => self.push(text),
                Token::Operator(sign) => self.push(sign),
                // Bash expands an expression as if it stood in double quotes.
                Token::Expansion(expansion) => self.expansion(expansion, true)?,
            }
        }
        Ok(())
    }
}
