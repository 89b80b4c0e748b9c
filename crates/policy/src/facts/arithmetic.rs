//! Arithmetic. Bash evaluates a variable's value as an expression again, and array subscripts in it are expanded: a value
//! such as `a[$(command)]` runs a command. So every name is noted, with whether it is certain to hold a number.

use runward_script::{Arithmetic, Expansion, Parameter, Part, Token, Word, is_identifier};

use super::Fact;
use super::numbers::prints_number;
use super::walk::{Walked, Walker};
use crate::variables::is_always_a_number;

/// In place of a name: what is evaluated is no variable.
const UNKNOWN: &str = "$(…)";

/// Whether a name behind this can be assigned to. Behind any other operator (`!n=0`, `1+n=0`, `a?b:n=0`) bash evaluates what it
/// holds, and only then finds that it cannot.
fn begins_assignment(before: Option<&Token>) -> bool {
    const ASSIGNING: [&str; 14] =
        ["(", ",", "?", "=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="];
    match before {
        None => true,
        Some(Token::Operator(operator)) => ASSIGNING.contains(operator),
        Some(_) => false,
    }
}

impl Walker<'_> {
    pub(super) fn arithmetic(&mut self, expression: &Arithmetic) -> Walked {
        self.may_fail |= !self.is_certain(expression);
        let mut tokens = expression.tokens.iter().map(|(_, token)| token).peekable();
        let chooses = |token: &Token| matches!(token, Token::Operator("&&" | "||" | "?"));
        let always = !expression.tokens.iter().any(|(_, token)| chooses(token));
        let (mut given, mut open) = (Vec::<&String>::new(), 0usize);
        let mut before: Option<&Token> = None;
        while let Some(token) = tokens.next() {
            match token {
                Token::Operator("(") => open += 1,
                Token::Operator(")") => open = open.saturating_sub(1),
                Token::Operator(",") if open == 0 => given.drain(..).for_each(|name| self.gain(name)),
                Token::Operator(_) | Token::Number(_) => {}
                Token::Expansion(expansion) => self.expansion_counted(token, expansion)?,
                Token::Name(name) => {
                    let replaced = begins_assignment(before) && tokens.peek() == Some(&&Token::Operator("="));
                    if replaced {
                        self.facts.push(Fact::Assigned(name.clone(), None));
                        // It holds the number once what stands behind the sign has been evaluated.
                        given.extend(always.then_some(name));
                    } else if !self.count(name) {
                        self.doubts.token(token);
                    }
                }
            }
            before = Some(token);
        }
        for name in given {
            self.gain(name);
        }
        Ok(())
    }

    fn expansion_counted(&mut self, token: &Token, expansion: &Expansion) -> Walked {
        self.expansion(expansion)?;
        let certain = match expansion {
            Expansion::Parameter(Parameter { name, subscript: None }, None) if is_identifier(name) => {
                self.count(name)
            }
            Expansion::Length(_) => true,
            other => self.is_sure(other) || prints_number(other) || self.count(UNKNOWN),
        };
        if !certain {
            self.doubts.token(token);
        }
        Ok(())
    }

    /// Notes that a variable is evaluated, and says whether it is certain to hold a number.
    fn count(&mut self, name: &str) -> bool {
        let known = self.known.holds(name);
        self.facts.push(Fact::Counted { name: name.to_owned(), known });
        known || is_always_a_number(name)
    }

    /// A word of `[[ … ]]` that is evaluated: a number, or a variable.
    pub(super) fn counted(&mut self, word: &Word) {
        self.may_fail = true;
        match word.parts.as_slice() {
            [Part::Literal(text) | Part::Bare(text)] if super::is_integer(text) => {}
            [
                Part::Literal(name)
                | Part::Bare(name)
                | Part::Expansion {
                    expansion: Expansion::Parameter(Parameter { name, subscript: None }, None),
                    ..
                },
            ] if is_identifier(name) => self.counted_name(word, name),
            [Part::Expansion { expansion: Expansion::Arithmetic(_) | Expansion::Length(_), .. }] => {}
            [Part::Expansion { expansion, .. }] if self.is_sure(expansion) || prints_number(expansion) => {}
            _ => self.counted_name(word, UNKNOWN),
        }
    }

    fn counted_name(&mut self, word: &Word, name: &str) {
        if !self.count(name) {
            self.doubts.word(word);
        }
    }
}
