//! Lists, pipelines and compound commands.

use super::cursor::{Read, Reader, Unreadable};
use super::facts::{Fact, Word};
use crate::builtins::is_identifier;

impl Reader<'_> {
    /// Reads commands up to one of these words in command position, a closing parenthesis, `;;` or the end.
    pub(super) fn list(&mut self, until: &[&str]) -> Read<()> {
        loop {
            self.skip_newlines()?;
            let ended =
                matches!(self.peek(), None | Some(b')')) || self.starts_with(";;") || self.starts_with(";&");
            if ended || until.contains(&self.bare_word()) {
                return Ok(());
            }
            self.and_or()?;
            self.skip_blanks()?;
            match self.peek() {
                Some(b';') if !self.starts_with(";;") && !self.starts_with(";&") => self.at += 1,
                Some(b'&') if !self.starts_with("&&") => self.at += 1,
                None | Some(b'\n' | b')' | b';') => {}
                Some(_) => return Err(self.unexpected()),
            }
        }
    }

    fn and_or(&mut self) -> Read<()> {
        loop {
            self.pipeline()?;
            self.skip_blanks()?;
            if !self.eat("&&") && !self.eat("||") {
                return Ok(());
            }
            self.skip_newlines()?;
        }
    }

    fn pipeline(&mut self) -> Read<()> {
        if self.eat_bare_word("time") {
            self.facts.push(Fact::Command(vec![Word::known("time")]));
            self.skip_blanks()?;
            if self.eat_bare_word("-p") {
                self.skip_blanks()?;
            }
        }
        while self.eat_bare_word("!") {
            self.skip_blanks()?;
        }
        loop {
            self.deeper(Reader::command)?;
            self.skip_blanks()?;
            if self.starts_with("||") || !self.eat("|&") && !self.eat("|") {
                return Ok(());
            }
            self.skip_newlines()?;
        }
    }

    fn command(&mut self) -> Read<()> {
        if self.compound_command()? {
            return Ok(());
        }
        match self.bare_word() {
            "function" => {
                self.at += "function".len();
                self.skip_blanks()?;
                let name = self.bare_word().to_owned();
                self.at += name.len();
                self.skip_blanks()?;
                if self.eat("(") {
                    self.skip_blanks()?;
                    self.expect(")")?;
                }
                if name.is_empty() || name.contains(['\'', '"', '\\', '$', '`']) {
                    return Err(self.unexpected());
                }
                self.function_body(name)
            }
            "coproc" => self.coprocess(),
            "select" => Err(Unreadable("\"select\" waits for a person and is not read".into())),
            word if crate::builtins::is_reserved(word) => Err(self.unexpected()),
            _ => self.simple_command(),
        }
    }

    /// Reads a compound command with its redirections if one starts here.
    pub(super) fn compound_command(&mut self) -> Read<bool> {
        if self.starts_with("((") {
            self.at += 2;
            self.arithmetic("))")?;
        } else if self.eat("(") {
            self.list(&[])?;
            self.expect(")")?;
        } else {
            let word = self.bare_word();
            let read: fn(&mut Self) -> Read<()> = match word {
                "{" => Self::group,
                "if" => Self::conditional_command,
                "while" | "until" => Self::loop_while,
                "for" => Self::loop_for,
                "case" => Self::case,
                "[[" => Self::test,
                _ => return Ok(false),
            };
            self.at += word.len();
            read(self)?;
        }
        loop {
            self.skip_blanks()?;
            if !self.redirection()? {
                return Ok(true);
            }
        }
    }

    fn expect(&mut self, text: &str) -> Read<()> {
        self.skip_blanks()?;
        if self.eat(text) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn group(&mut self) -> Read<()> {
        self.list(&["}"])?;
        self.expect_bare_word("}")
    }

    fn conditional_command(&mut self) -> Read<()> {
        loop {
            self.list(&["then"])?;
            self.expect_bare_word("then")?;
            self.list(&["elif", "else", "fi"])?;
            if self.eat_bare_word("elif") {
                continue;
            }
            if self.eat_bare_word("else") {
                self.list(&["fi"])?;
            }
            return self.expect_bare_word("fi");
        }
    }

    fn loop_while(&mut self) -> Read<()> {
        self.list(&["do"])?;
        self.do_group()
    }

    fn do_group(&mut self) -> Read<()> {
        self.expect_bare_word("do")?;
        self.list(&["done"])?;
        self.expect_bare_word("done")
    }

    fn loop_for(&mut self) -> Read<()> {
        self.skip_blanks()?;
        if self.eat("((") {
            self.arithmetic("))")?;
        } else {
            self.loop_variable()?;
        }
        self.skip_blanks()?;
        self.eat(";");
        self.skip_newlines()?;
        self.do_group()
    }

    fn loop_variable(&mut self) -> Read<()> {
        let name = self.bare_word().to_owned();
        if !is_identifier(&name) {
            return Err(self.unexpected());
        }
        self.at += name.len();
        self.skip_newlines()?;
        let mut number = false;
        if self.eat_bare_word("in") {
            number = true;
            loop {
                self.skip_blanks()?;
                let start = self.at;
                let word = self.word()?;
                if self.peek() == Some(b'(') {
                    return Err(self.unexpected());
                }
                if self.at == start {
                    break;
                }
                number &= word.is_number();
            }
        }
        self.facts.push(Fact::Assigned { name, number });
        Ok(())
    }

    fn case(&mut self) -> Read<()> {
        self.skip_blanks()?;
        self.subject()?;
        self.skip_newlines()?;
        self.expect_bare_word("in")?;
        loop {
            self.skip_newlines()?;
            if self.eat_bare_word("esac") {
                return Ok(());
            }
            self.eat("(");
            loop {
                self.skip_blanks()?;
                self.subject()?;
                self.skip_blanks()?;
                if !self.eat("|") {
                    break;
                }
            }
            self.expect(")")?;
            self.list(&["esac"])?;
            if !self.eat(";;&") && !self.eat(";;") && !self.eat(";&") {
                return self.expect_bare_word("esac");
            }
        }
    }

    /// A word that has to be there.
    pub(super) fn subject(&mut self) -> Read<Word> {
        let start = self.at;
        let word = self.word()?;
        if self.at == start || self.peek() == Some(b'(') { Err(self.unexpected()) } else { Ok(word) }
    }

    fn coprocess(&mut self) -> Read<()> {
        self.at += "coproc".len();
        self.skip_blanks()?;
        let start = self.at;
        let name = self.bare_word().to_owned();
        if is_identifier(&name) && !crate::builtins::is_reserved(&name) {
            self.at += name.len();
            self.skip_blanks()?;
            if self.compound_command()? {
                self.facts.push(Fact::Assigned { name, number: false });
                return Ok(());
            }
            self.at = start;
        }
        if self.compound_command()? { Ok(()) } else { self.simple_command() }
    }
}
