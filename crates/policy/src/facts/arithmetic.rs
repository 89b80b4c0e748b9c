//! Arithmetic. Bash evaluates a variable's value as an expression again, and array subscripts in it are expanded: a value
//! such as `a[$(command)]` runs a command. So every name is noted, with whether it is certain to hold a number.

use runward_script::{Arithmetic, Expansion, Parameter, Part, Token, Word, is_identifier};

use super::Fact;
use super::walk::{Walked, Walker};

impl Walker<'_> {
    pub(super) fn arithmetic(&mut self, expression: &Arithmetic) {
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
                Token::Expansion(expansion) => self.expansion_counted(expansion),
                Token::Name(name) => {
                    let steps = matches!(before, Some(Token::Operator("++" | "--")));
                    let replaced = !steps && tokens.peek() == Some(&&Token::Operator("="));
                    if replaced {
                        self.facts.push(Fact::Assigned(name.clone()));
                        // It holds the number once what stands behind the sign has been evaluated.
                        given.extend(always.then_some(name));
                    } else {
                        self.count(name);
                    }
                }
            }
            before = Some(token);
        }
        for name in given {
            self.gain(name);
        }
    }

    fn expansion_counted(&mut self, expansion: &Expansion) {
        if let Expansion::Parameter(Parameter { name, .. }, _) = expansion
            && is_identifier(name)
        {
            self.count(name);
        }
    }

    fn count(&mut self, name: &str) {
        let known = self.known.holds(name);
        self.facts.push(Fact::Counted { name: name.to_owned(), known });
    }

    /// A word of `[[ … ]]` that is evaluated: a number, or a variable.
    pub(super) fn counted(&mut self, word: &Word) -> Walked {
        self.may_fail = true;
        match word.parts.as_slice() {
            [Part::Literal(text) | Part::Bare(text)] if super::is_integer(text) => {}
            [Part::Literal(name) | Part::Bare(name)] if is_identifier(name) => self.count(name),
            [Part::Expansion { expansion: Expansion::Arithmetic(_) | Expansion::Length(_), .. }] => {}
            [
                Part::Expansion {
                    expansion: Expansion::Parameter(Parameter { name, subscript: None }, None),
                    ..
                },
            ] if is_identifier(name) => {
                self.count(name);
            }
            [Part::Expansion { expansion, .. }] if self.is_sure(expansion) => {}
            _ => {
                return Err(format!(
                    "arithmetic on \"{}\" could run what its values say; use numbers and variables that hold numbers",
                    word.raw
                ));
            }
        }
        Ok(())
    }
}
