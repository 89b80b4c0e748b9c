//! Simple commands: assignments, redirections, words.

use super::cursor::{Read, Reader, Unreadable, ends_word};
use super::facts::{Fact, Word};

/// Builtins whose arguments may be assignments, arrays included.
const DECLARATIONS: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

/// Operators of redirections, longer ones before those that they begin with.
const REDIRECTIONS: &[&str] = &["&>>", "&>", "<<<", "<>", "<&", ">>", ">&", ">|", "<<", "<", ">"];

/// Bash expands what follows `>&` again when that is no number, so it has to be text that stays as it is.
fn is_expanded_once(target: &Word) -> bool {
    let stays = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    target.text().is_some_and(|text| text.chars().all(stays))
}

/// A longer number is no file descriptor.
const MOST_DIGITS: usize = 4;

impl Reader<'_> {
    /// Reads a simple command, or the definition of a function.
    pub(super) fn simple_command(&mut self) -> Read<()> {
        let start = self.at;
        let slot = self.facts.len();
        let mut words: Vec<Word> = Vec::new();
        let mut places = Vec::new();
        loop {
            self.skip_blanks()?;
            if self.redirection()? || words.is_empty() && self.assignment()? {
                continue;
            }
            let word_start = self.at;
            let word = self.argument(words.first())?;
            if self.at == word_start {
                break;
            }
            if self.peek() == Some(b'(') {
                return self.function_after_name(start == word_start, &word);
            }
            places.push((word_start, self.at));
            words.push(word);
        }
        if self.at == start {
            return Err(self.unexpected());
        }
        if !words.is_empty() {
            self.outline(places);
            self.facts.insert(slot, Fact::Command(words));
        }
        Ok(())
    }

    fn argument(&mut self, command: Option<&Word>) -> Read<Word> {
        let start = self.at;
        let declares = command.is_some_and(|command| DECLARATIONS.contains(&command.raw.as_str()));
        if declares && self.array_follows() {
            self.assignment()?;
            let raw = self.slice(start, self.at);
            // The assignment itself is noted; the word only has to show its name.
            let name = raw.split(['=', '+']).next().unwrap_or_default();
            return Ok(Word { raw: raw.to_owned(), ..Word::known(name) });
        }
        self.word()
    }

    fn array_follows(&mut self) -> bool {
        let start = self.at;
        let found = !self.identifier().is_empty() && (self.eat("=(") || self.eat("+=("));
        self.at = start;
        found
    }

    /// Reads `name=value`, `name+=value`, `name[1]=value` or `name=(…)` if one starts here.
    fn assignment(&mut self) -> Read<bool> {
        let Some(name) = self.assigned_name() else { return Ok(false) };
        let number = if self.peek() == Some(b'(') {
            self.at += 1;
            self.array()?;
            false
        } else {
            let word = self.word()?;
            if self.peek() == Some(b'(') {
                return Err(self.unexpected());
            }
            word.is_number()
        };
        self.facts.push(Fact::Assigned { name, number });
        Ok(true)
    }

    /// The name before `=`, both consumed; stands where it stood when this is no assignment.
    fn assigned_name(&mut self) -> Option<String> {
        let start = self.at;
        let name = self.identifier().to_owned();
        if name.is_empty() {
            return None;
        }
        let facts = self.facts.len();
        let element = self.peek() == Some(b'[') && {
            self.at += 1;
            self.arithmetic("]").is_ok()
        };
        if (self.at == start + name.len() || element) && (self.eat("=") || self.eat("+=")) {
            return Some(name);
        }
        self.at = start;
        self.facts.truncate(facts);
        None
    }

    fn array(&mut self) -> Read<()> {
        loop {
            self.skip_newlines()?;
            if self.eat(")") {
                return Ok(());
            }
            if self.peek() == Some(b'[') {
                return Err(Unreadable("an array element with a subscript is not read".into()));
            }
            let start = self.at;
            self.word()?;
            if self.at == start || self.peek() == Some(b'(') {
                return Err(self.unexpected());
            }
        }
    }

    /// Reads one redirection if one starts here.
    pub(super) fn redirection(&mut self) -> Read<bool> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let substitution = self.starts_with("<(") || self.starts_with(">(");
        let redirects = matches!(self.peek(), Some(b'<' | b'>')) && !substitution
            || self.at == start && (self.starts_with("&>"));
        if !redirects {
            self.at = start;
            let stored = self.bare_word();
            let follows = self.peek_at(stored.len());
            if stored.starts_with('{') && stored.ends_with('}') && matches!(follows, Some(b'<' | b'>')) {
                return Err(Unreadable(format!("\"{stored}\" before a redirection sets a variable")));
            }
            return Ok(false);
        }
        if self.at - start > MOST_DIGITS {
            return Err(self.unexpected());
        }
        let operator =
            REDIRECTIONS.iter().find(|operator| self.starts_with(operator)).copied().unwrap_or_default();
        self.at += operator.len();
        if operator == "<<" {
            self.announce_here_document()?;
            return Ok(true);
        }
        self.skip_blanks()?;
        let target = self.subject()?;
        if matches!(operator, "<&" | ">&") && !is_expanded_once(&target) {
            return Err(Unreadable(format!(
                "bash expands \"{}\" after \"{operator}\" twice; use \"&>\"",
                target.raw
            )));
        }
        Ok(true)
    }

    fn function_after_name(&mut self, is_first: bool, name: &Word) -> Read<()> {
        let plain = name.text() == Some(name.raw.as_str());
        if !is_first || !plain {
            return Err(self.unexpected());
        }
        self.at += 1;
        self.skip_blanks()?;
        if !self.eat(")") {
            return Err(self.unexpected());
        }
        self.function_body(name.raw.clone())
    }

    pub(super) fn function_body(&mut self, name: String) -> Read<()> {
        if name.bytes().any(|byte| ends_word(byte) || byte == b'/') {
            return Err(Unreadable(format!("\"{name}\" is no name for a function")));
        }
        self.facts.push(Fact::Function(name));
        self.skip_newlines()?;
        if !self.compound_command()? {
            return Err(self.unexpected());
        }
        Ok(())
    }
}
