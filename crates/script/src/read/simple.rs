//! Simple commands: assignments, redirections, words.

use super::Unreadable;
use super::cursor::{Read, Reader, ends_word};
use crate::names::is_reserved;
use crate::tree::{Argument, Arithmetic, Assigned, Assignment, Command, Kind, Part, Simple, Word};

/// Builtins whose arguments may be assignments, arrays included.
const DECLARATIONS: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

impl Reader<'_> {
    /// Reads a simple command, or the definition of a function.
    pub(super) fn simple_command(&mut self) -> Read<Command> {
        let (start, line) = (self.at, self.line());
        let mut simple = Simple::default();
        let mut redirections = Vec::new();
        loop {
            self.skip_blanks()?;
            if let Some(redirection) = self.redirection()? {
                redirections.push(redirection);
                continue;
            }
            if simple.words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                simple.assignments.push(assignment);
                continue;
            }
            let word_start = self.at;
            let word = self.argument(simple.words.first())?;
            if self.at == word_start {
                break;
            }
            // Behind an assignment or a redirection it is a command of that name, which nobody means.
            if simple.words.is_empty() && is_reserved(self.slice(word_start, self.at)) {
                return Err(self.unexpected());
            }
            self.at += self.blanks_before_parenthesis(simple.words.is_empty());
            if self.peek() == Some(b'(') {
                return self.function_after_name(line, start == word_start, &word);
            }
            simple.words.push(word);
        }
        if self.at == start {
            return Err(self.unexpected());
        }
        Ok(Command { line, kind: Kind::Simple(simple), redirections })
    }

    /// How many blanks stand between the first word and a parenthesis, if that comes next.
    fn blanks_before_parenthesis(&self, is_first: bool) -> usize {
        let rest = self.slice(self.at, self.text.len());
        let blanks = rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if is_first && self.peek_at(blanks) == Some(b'(') { blanks } else { 0 }
    }

    fn argument(&mut self, command: Option<&Argument>) -> Read<Argument> {
        let declares = command.is_some_and(Argument::declares);
        if declares && let Some(assignment) = self.assignment()? {
            return Ok(Argument::Assignment(assignment));
        }
        self.word().map(Argument::Word)
    }

    /// Reads `name=value`, `name+=value`, `name[1]=value` or `name=(…)` if one starts here.
    fn assignment(&mut self) -> Read<Option<Assignment>> {
        let Some((name, subscript, appends)) = self.assigned_name()? else { return Ok(None) };
        if self.peek() != Some(b'(') {
            let word = self.word()?;
            if self.peek() == Some(b'(') {
                return Err(self.unexpected());
            }
            return Ok(Some(Assignment { name, subscript, appends, value: Assigned::Word(word) }));
        }
        self.at += 1;
        let value = Assigned::Array(self.array()?);
        // To bash the word goes on until a blank: `x=(a)#` and `x=(a)ls` are one word.
        if subscript.is_some()
            || self.peek().is_some_and(|byte| !ends_word(byte) || matches!(byte, b'<' | b'>' | b'('))
        {
            return Err(Unreadable(format!(
                "\"{name}=(…)\" has to end in front of a blank; put a space or ; behind it"
            )));
        }
        Ok(Some(Assignment { name, subscript, appends, value }))
    }

    /// The name before `=`, all consumed; stands where it stood when this is no assignment.
    fn assigned_name(&mut self) -> Read<Option<(String, Option<Arithmetic>, bool)>> {
        let start = self.at;
        let name = self.identifier().to_owned();
        if name.is_empty() {
            return Ok(None);
        }
        // A word that only begins like an element of an array would be one to bash once it is written.
        let subscript = if self.eat("[") { Some(self.arithmetic("]")?) } else { None };
        for (sign, appends) in [("=", false), ("+=", true)] {
            if self.eat(sign) {
                return Ok(Some((name, subscript, appends)));
            }
        }
        if subscript.is_some() {
            return Err(self.unexpected());
        }
        self.at = start;
        Ok(None)
    }

    fn array(&mut self) -> Read<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.eat(")") {
                return Ok(words);
            }
            let start = self.at;
            let word = self.word()?;
            let element = matches!(word.parts.first(), Some(Part::Bare(text)) if text.starts_with('['));
            if element && word.raw.contains('=') {
                return Err(Unreadable("an array element with a subscript is not read".into()));
            }
            if self.at == start || matches!(self.peek(), Some(b'(' | b'<' | b'>' | b'|' | b'&' | b';')) {
                return Err(self.unexpected());
            }
            words.push(word);
        }
    }

    fn function_after_name(
        &mut self,
        line: crate::tree::Line,
        is_first: bool,
        name: &Argument,
    ) -> Read<Command> {
        let Argument::Word(Word { raw, .. }) = name else { return Err(self.unexpected()) };
        if !is_first {
            return Err(self.unexpected());
        }
        self.at += 1;
        self.expect(")")?;
        self.function(line, raw.clone())
    }
}

impl Argument {
    /// Whether bash takes it for a builtin whose arguments may be assignments.
    pub fn declares(&self) -> bool {
        matches!(self, Argument::Word(Word { raw, .. }) if DECLARATIONS.contains(&raw.as_str()))
    }
}
