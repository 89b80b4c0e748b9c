//! Lists and pipelines.

use super::cursor::{Read, Reader};
use crate::tree::{AndOr, Connector, Item, List, Pipe, Pipeline, Timed};

impl Reader<'_> {
    /// Reads commands up to one of these words in command position, a closing parenthesis, `;;` or the end.
    pub(super) fn list(&mut self, until: &[&str]) -> Read<List> {
        let mut list = List::new();
        loop {
            self.skip_newlines()?;
            let ended =
                matches!(self.peek(), None | Some(b')')) || self.starts_with(";;") || self.starts_with(";&");
            if ended || until.contains(&self.bare_word()) {
                return Ok(list);
            }
            let and_or = self.and_or()?;
            self.skip_blanks()?;
            let mut background = false;
            match self.peek() {
                Some(b';') if !self.starts_with(";;") && !self.starts_with(";&") => self.at += 1,
                Some(b'&') if !self.starts_with("&&") => {
                    background = true;
                    self.at += 1;
                }
                None | Some(b'\n' | b')' | b';') => {}
                Some(_) => return Err(self.unexpected()),
            }
            list.push(Item { and_or, background });
        }
    }

    /// The same where bash wants at least one command.
    pub(super) fn some_list(&mut self, until: &[&str]) -> Read<List> {
        let list = self.list(until)?;
        if list.is_empty() { Err(self.unexpected()) } else { Ok(list) }
    }

    fn and_or(&mut self) -> Read<AndOr> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks()?;
            let connector = if self.eat("&&") {
                Connector::And
            } else if self.eat("||") {
                Connector::Or
            } else {
                return Ok(AndOr { first, rest });
            };
            self.skip_newlines()?;
            rest.push((connector, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Read<Pipeline> {
        let timed = self.timed()?;
        let mut negated = false;
        while self.eat_bare_word("!") {
            negated = !negated;
            self.skip_blanks()?;
        }
        let first = self.deeper(Reader::command)?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks()?;
            let pipe = if self.starts_with("||") {
                break;
            } else if self.eat("|&") {
                Pipe::Both
            } else if self.eat("|") {
                Pipe::Output
            } else {
                break;
            };
            self.skip_newlines()?;
            rest.push((pipe, self.deeper(Reader::command)?));
        }
        Ok(Pipeline { timed, negated, first, rest })
    }

    fn timed(&mut self) -> Read<Option<Timed>> {
        if !self.eat_bare_word("time") {
            return Ok(None);
        }
        self.skip_blanks()?;
        let posix = self.eat_bare_word("-p");
        self.skip_blanks()?;
        Ok(Some(if posix { Timed::Posix } else { Timed::Usual }))
    }
}
