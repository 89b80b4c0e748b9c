//! Compound commands.

use super::Unreadable;
use super::cursor::{Read, Reader};
use crate::names::{is_identifier, is_reserved};
use crate::tree::{Arm, ArmEnd, Command, Kind, List, Loop, Word};

impl Reader<'_> {
    /// Reads one command with its redirections.
    pub(super) fn command(&mut self) -> Read<Command> {
        let line = self.line();
        if let Some(kind) = self.compound()? {
            return self.redirected(line, kind);
        }
        match self.bare_word() {
            "function" => {
                self.at += "function".len();
                self.skip_blanks()?;
                let name = self.bare_word().to_owned();
                self.at += name.len();
                self.skip_blanks()?;
                if self.eat("(") {
                    self.expect(")")?;
                }
                self.function(line, name)
            }
            "coproc" => self.coprocess(line),
            "select" => Err(Unreadable("\"select\" waits for a person and is not read".into())),
            word if is_reserved(word) => Err(self.unexpected()),
            _ => self.simple_command(),
        }
    }

    fn redirected(&mut self, line: crate::tree::Line, kind: Kind) -> Read<Command> {
        let mut redirections = Vec::new();
        loop {
            self.skip_blanks()?;
            match self.redirection()? {
                Some(redirection) => redirections.push(redirection),
                None => return Ok(Command { line, kind, redirections }),
            }
        }
    }

    /// Reads a compound command, without its redirections, if one starts here.
    fn compound(&mut self) -> Read<Option<Kind>> {
        if self.eat("((") {
            return Ok(Some(Kind::Arithmetic(self.arithmetic("))")?)));
        }
        if self.eat("(") {
            let list = self.some_list(&[])?;
            self.expect(")")?;
            return Ok(Some(Kind::Subshell(list)));
        }
        let word = self.bare_word();
        let read: fn(&mut Self) -> Read<Kind> = match word {
            "{" => Self::group,
            "if" => Self::conditional_command,
            "while" => |this| this.loop_while(Loop::While),
            "until" => |this| this.loop_while(Loop::Until),
            "for" => Self::loop_for,
            "case" => Self::case,
            "[[" => |this| this.condition().map(Kind::Test),
            _ => return Ok(None),
        };
        self.at += word.len();
        read(self).map(Some)
    }

    fn group(&mut self) -> Read<Kind> {
        let list = self.some_list(&["}"])?;
        self.expect_bare_word("}")?;
        Ok(Kind::Group(list))
    }

    fn conditional_command(&mut self) -> Read<Kind> {
        let mut branches = Vec::new();
        loop {
            let condition = self.some_list(&["then"])?;
            self.expect_bare_word("then")?;
            branches.push((condition, self.some_list(&["elif", "else", "fi"])?));
            if self.eat_bare_word("elif") {
                continue;
            }
            let otherwise = if self.eat_bare_word("else") { Some(self.some_list(&["fi"])?) } else { None };
            self.expect_bare_word("fi")?;
            return Ok(Kind::If(branches, otherwise));
        }
    }

    fn loop_while(&mut self, goes_on: Loop) -> Read<Kind> {
        let condition = self.some_list(&["do"])?;
        Ok(Kind::While(goes_on, condition, self.do_group()?))
    }

    fn do_group(&mut self) -> Read<List> {
        self.expect_bare_word("do")?;
        let list = self.some_list(&["done"])?;
        self.expect_bare_word("done")?;
        Ok(list)
    }

    fn loop_for(&mut self) -> Read<Kind> {
        self.skip_blanks()?;
        if self.eat("((") {
            let expressions = self.three_expressions()?;
            self.separator()?;
            return Ok(Kind::Count(expressions, self.do_group()?));
        }
        let name = self.bare_word().to_owned();
        if !is_identifier(&name) {
            return Err(self.unexpected());
        }
        self.at += name.len();
        self.skip_newlines()?;
        let words = if self.eat_bare_word("in") { Some(self.words()?) } else { None };
        self.separator()?;
        Ok(Kind::For(name, words, self.do_group()?))
    }

    /// One `;`, or newlines.
    fn separator(&mut self) -> Read<()> {
        self.skip_blanks()?;
        self.eat(";");
        self.skip_newlines()
    }

    fn words(&mut self) -> Read<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks()?;
            let start = self.at;
            let word = self.word()?;
            if self.peek() == Some(b'(') {
                return Err(self.unexpected());
            }
            if self.at == start {
                return Ok(words);
            }
            words.push(word);
        }
    }

    fn case(&mut self) -> Read<Kind> {
        self.skip_blanks()?;
        let subject = self.subject()?;
        self.skip_newlines()?;
        self.expect_bare_word("in")?;
        let mut arms = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.eat_bare_word("esac") {
                return Ok(Kind::Case(subject, arms));
            }
            let patterns = self.patterns()?;
            let body = self.list(&["esac"])?;
            let end = [(";;&", ArmEnd::TestNext), (";;", ArmEnd::Break), (";&", ArmEnd::FallThrough)]
                .into_iter()
                .find(|(sign, _)| self.eat(sign));
            let last = end.is_none();
            arms.push(Arm { patterns, body, end: end.map_or(ArmEnd::Break, |(_, end)| end) });
            if last {
                self.expect_bare_word("esac")?;
                return Ok(Kind::Case(subject, arms));
            }
        }
    }

    fn patterns(&mut self) -> Read<Vec<Word>> {
        self.eat("(");
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks()?;
            patterns.push(self.subject()?);
            self.skip_blanks()?;
            if !self.eat("|") {
                self.expect(")")?;
                return Ok(patterns);
            }
        }
    }

    /// What follows the name of a function.
    pub(super) fn function(&mut self, line: crate::tree::Line, name: String) -> Read<Command> {
        let plain =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '+' | '@' | ',');
        let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if !begins || is_reserved(&name) || !name.chars().all(plain) {
            return Err(Unreadable(format!("\"{name}\" is no name for a function")));
        }
        self.skip_newlines()?;
        let body_line = self.line();
        let kind = self.compound()?.ok_or_else(|| self.unexpected())?;
        let body = self.redirected(body_line, kind)?;
        Ok(Command { line, kind: Kind::Function(name, Box::new(body)), redirections: Vec::new() })
    }

    fn coprocess(&mut self, line: crate::tree::Line) -> Read<Command> {
        self.at += "coproc".len();
        self.skip_blanks()?;
        let start = self.at;
        let name = self.bare_word().to_owned();
        let coprocess = |name, body| {
            let kind = Kind::Coprocess(name, Box::new(body));
            Command { line, kind, redirections: Vec::new() }
        };
        if is_identifier(&name) && !is_reserved(&name) {
            self.at += name.len();
            self.skip_blanks()?;
            if let Some(kind) = self.compound()? {
                return Ok(coprocess(Some(name), self.redirected(line, kind)?));
            }
            self.at = start;
        }
        let body = match self.compound()? {
            Some(kind) => self.redirected(line, kind)?,
            None => Command { line, ..self.simple_command()? },
        };
        Ok(coprocess(None, body))
    }
}
