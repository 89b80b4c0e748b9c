//! Lines without shell syntax, split the way bash splits them.

use std::iter::Peekable;
use std::str::Chars;

use crate::names;

/// The words that bash would make of a line, or `None` when the line holds anything that bash would interpret.
/// A blank line has no words.
pub fn split_plain(line: &str) -> Option<Vec<String>> {
    let mut splitter = Splitter { rest: line.chars().peekable(), words: Vec::new() };
    while splitter.skip_blanks()? {
        splitter.word()?;
    }
    let first_is_shells = splitter.words.first().is_some_and(|first| names::needs_the_shell(first));
    (!first_is_shells).then_some(splitter.words)
}

struct Splitter<'a> {
    rest: Peekable<Chars<'a>>,
    words: Vec<String>,
}

/// What a word needs to be remembered of beyond its text, because it decides whether bash would expand it.
#[derive(Default)]
struct Seen {
    text: String,
    /// Whether any part was quoted.
    quoted: bool,
    brace: bool,
    comma_or_range: bool,
    brackets: usize,
    previous: Option<char>,
}

impl Splitter<'_> {
    /// Stands at the next word afterwards; false at the end of the line.
    fn skip_blanks(&mut self) -> Option<bool> {
        loop {
            match self.rest.peek().copied() {
                None => return Some(false),
                Some(' ' | '\t') => {
                    self.rest.next();
                }
                Some('\n') => {
                    // Newlines before the first and after the last word separate nothing.
                    if !self.words.is_empty() {
                        let ends = self.rest.all(|c| matches!(c, ' ' | '\t' | '\n'));
                        return if ends { Some(false) } else { None };
                    }
                    self.rest.next();
                }
                Some('\\') if self.at_continuation() => {
                    self.rest.nth(1);
                }
                Some('#') => return None,
                Some(_) => return Some(true),
            }
        }
    }

    fn at_continuation(&self) -> bool {
        let mut ahead = self.rest.clone();
        ahead.next() == Some('\\') && ahead.next() == Some('\n')
    }

    fn word(&mut self) -> Option<()> {
        let mut seen = Seen::default();
        while let Some(&next) = self.rest.peek() {
            if matches!(next, ' ' | '\t' | '\n') {
                break;
            }
            self.rest.next();
            self.piece(next, &mut seen)?;
        }
        self.finish(seen)
    }

    fn piece(&mut self, next: char, seen: &mut Seen) -> Option<()> {
        match next {
            '\'' => self.single_quoted(seen)?,
            '"' => self.double_quoted(seen)?,
            '\\' => match self.rest.next()? {
                '\n' => {}
                escaped => seen.take_quoted(escaped),
            },
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '?' => return None,
            '~' if matches!(seen.previous, None | Some('=' | ':')) => return None,
            '=' if self.words.is_empty() && seen.could_be_assigned() => return None,
            plain => seen.take(plain, self.rest.peek().copied())?,
        }
        Some(())
    }

    fn single_quoted(&mut self, seen: &mut Seen) -> Option<()> {
        seen.open_quote();
        loop {
            match self.rest.next()? {
                '\'' => return Some(()),
                inside => seen.take_quoted(inside),
            }
        }
    }

    fn double_quoted(&mut self, seen: &mut Seen) -> Option<()> {
        seen.open_quote();
        loop {
            match self.rest.next()? {
                '"' => return Some(()),
                '$' | '`' => return None,
                '\\' => match self.rest.next()? {
                    '\n' => {}
                    escaped @ ('$' | '`' | '"' | '\\') => seen.take_quoted(escaped),
                    other => {
                        seen.take_quoted('\\');
                        seen.take_quoted(other);
                    }
                },
                inside => seen.take_quoted(inside),
            }
        }
    }

    fn finish(&mut self, seen: Seen) -> Option<()> {
        if seen.text.is_empty() && !seen.quoted {
            return Some(());
        }
        let bracket_alone = seen.text == "[";
        if seen.brace && seen.comma_or_range || seen.brackets > 0 && !bracket_alone {
            return None;
        }
        if self.words.is_empty() && !seen.quoted && names::is_reserved(&seen.text) {
            return None;
        }
        self.words.push(seen.text);
        Some(())
    }
}

impl Seen {
    fn open_quote(&mut self) {
        self.quoted = true;
        self.previous = Some('\'');
    }

    fn take_quoted(&mut self, c: char) {
        self.quoted = true;
        self.text.push(c);
        self.previous = Some('\'');
    }

    fn take(&mut self, c: char, next: Option<char>) -> Option<()> {
        match c {
            '{' if next == Some('}') => self.brace = true,
            '{' => return None,
            '[' => self.brackets += 1,
            ',' => self.comma_or_range = true,
            '.' if self.previous == Some('.') => self.comma_or_range = true,
            _ => {}
        }
        self.text.push(c);
        self.previous = Some(c);
        Some(())
    }

    /// Whether `=` after this makes an assignment of the first word.
    fn could_be_assigned(&self) -> bool {
        let name = self.text.strip_suffix('+').unwrap_or(&self.text);
        !self.quoted && names::is_identifier(name)
    }
}
