//! Redirections.

use super::Unreadable;
use super::cursor::{Read, Reader};
use crate::tree::{Part, Redirection, Word};

/// Operators of redirections, longer ones before those that they begin with.
const OPERATORS: [&str; 11] = ["&>>", "&>", "<<<", "<>", "<&", ">>", ">&", ">|", "<<", "<", ">"];

/// A longer number is no file descriptor.
const MOST_DIGITS: usize = 4;

impl Reader<'_> {
    /// Reads one redirection if one starts here.
    pub(super) fn redirection(&mut self) -> Read<Option<Redirection>> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let digits = self.slice(start, self.at);
        let substitution = self.starts_with("<(") || self.starts_with(">(");
        let redirects = matches!(self.peek(), Some(b'<' | b'>')) && !substitution
            || digits.is_empty() && self.starts_with("&>");
        if !redirects {
            self.at = start;
            return self.stores_no_descriptor().map(|()| None);
        }
        if digits.len() > MOST_DIGITS {
            return Err(self.unexpected());
        }
        let descriptor = digits.parse().ok();
        let operator = OPERATORS
            .into_iter()
            .find(|operator| self.starts_with(operator))
            .ok_or_else(|| self.unexpected())?;
        self.at += operator.len();
        if operator == "<<" {
            return self.here_document(descriptor).map(Some);
        }
        self.skip_blanks()?;
        let target = self.subject()?;
        if matches!(operator, "<&" | ">&") && !is_expanded_once(&target) {
            return Err(Unreadable(format!(
                "bash expands \"{}\" after \"{operator}\" twice; use \"&>\"",
                target.raw
            )));
        }
        Ok(Some(Redirection { descriptor, operator, target }))
    }

    fn stores_no_descriptor(&self) -> Read<()> {
        let stored = self.bare_word();
        let follows = self.peek_at(stored.len());
        if stored.starts_with('{') && stored.ends_with('}') && matches!(follows, Some(b'<' | b'>')) {
            return Err(Unreadable(format!("\"{stored}\" before a redirection sets a variable")));
        }
        Ok(())
    }
}

/// Bash expands what follows `>&` again when that is no number, so it has to be text that stays as it is.
fn is_expanded_once(target: &Word) -> bool {
    let stays = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let [Part::Bare(text) | Part::Literal(text)] = target.parts.as_slice() else { return false };
    !text.is_empty() && text.chars().all(stays)
}
