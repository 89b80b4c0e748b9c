//! Words: what their expansions run and set.

use runward_script::{Expansion, Operation, Parameter, Part, Subscript, Word};

use super::settle::made_of;
use super::walk::{Walked, Walker};

impl Walker<'_> {
    pub(super) fn word(&mut self, word: &Word) -> Walked {
        word.parts.iter().try_for_each(|part| self.part(part))
    }

    fn part(&mut self, part: &Part) -> Walked {
        match part {
            Part::Literal(_) | Part::Bare(_) | Part::Dollar => Ok(()),
            Part::Process(_, list) => self.apart(|this| this.list(list)),
            Part::Expansion { expansion, .. } => self.expansion(expansion),
        }
    }

    pub(super) fn expansion(&mut self, expansion: &Expansion) -> Walked {
        match expansion {
            Expansion::Output(list) => match made_of(expansion) {
                Some(value) => self.apart(|this| this.word(value)),
                None => self.apart(|this| this.list(list)),
            },
            Expansion::Arithmetic(expression) => self.arithmetic(expression),
            Expansion::Keys(..) | Expansion::Names(..) => Ok(()),
            Expansion::Length(parameter) => self.perhaps(|this| this.parameter(parameter)),
            Expansion::Parameter(parameter, operation) => self.perhaps(|this| {
                this.parameter(parameter)?;
                operation.as_ref().map_or(Ok(()), |operation| this.operation(&parameter.name, operation))
            }),
        }
    }

    fn parameter(&mut self, parameter: &Parameter) -> Walked {
        let Some(Subscript::One(subscript)) = &parameter.subscript else { return Ok(()) };
        self.may_fail = true;
        self.arithmetic(subscript)
    }

    fn operation(&mut self, name: &str, operation: &Operation) -> Walked {
        match operation {
            Operation::Transform(_) => Ok(()),
            Operation::Slice(expression) => {
                self.may_fail = true;
                self.arithmetic(expression)
            }
            Operation::Operand(sign, parts) => {
                // `${x?why}` ends the script, or the rest of the line.
                self.may_fail = true;
                parts.iter().try_for_each(|part| self.part(part))?;
                if matches!(sign.as_str(), "=" | ":=") {
                    self.lose(name);
                    self.assigned(name, None)?;
                }
                Ok(())
            }
        }
    }
}
