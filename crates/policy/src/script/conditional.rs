//! `[[ … ]]`.

use super::cursor::{Read, Reader, Unreadable};
use super::facts::Word;
use crate::builtins::is_identifier;

/// Operators whose operands are evaluated as arithmetic.
const COUNTING: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Reader<'_> {
    /// Reads from after `[[` to after `]]`.
    pub(super) fn test(&mut self) -> Read<()> {
        let mut words: Vec<Word> = Vec::new();
        let mut parentheses = 0;
        loop {
            self.skip_newlines()?;
            parentheses += usize::from(self.peek() == Some(b'('));
            self.check_depth(parentheses)?;
            if self.eat_bare_word("]]") {
                return self.check_test(&words);
            }
            if self.peek() == Some(b'(') && words.last().is_some_and(|word| word.raw == "=~") {
                return Err(Unreadable(
                    "a regular expression with bare parentheses is not read; keep it in a variable".into(),
                ));
            }
            if self.eat("&&") || self.eat("||") || self.eat("(") || self.eat(")") {
                words.push(Word::known("&&"));
                continue;
            }
            let substitution = self.starts_with("<(") || self.starts_with(">(");
            if !substitution && (self.eat("<") || self.eat(">")) {
                words.push(Word::known("<"));
                continue;
            }
            let word = self.subject()?;
            if words.last().is_some_and(|before| before.raw == "=~") && self.peek() == Some(b'|') {
                return Err(self.unexpected());
            }
            words.push(word);
        }
    }

    fn check_test(&mut self, words: &[Word]) -> Read<()> {
        for (index, word) in words.iter().enumerate() {
            let after = words.get(index + 1);
            if matches!(word.raw.as_str(), "-v" | "-R") {
                let named = after.is_none_or(|word| word.text().is_some_and(is_identifier));
                if !named {
                    return Err(Unreadable(format!("what \"{}\" tests is not a plain name", word.raw)));
                }
            }
            if COUNTING.contains(&word.raw.as_str()) {
                let before = index.checked_sub(1).and_then(|before| words.get(before));
                for operand in before.into_iter().chain(after) {
                    self.counted_word(operand)?;
                }
            }
        }
        Ok(())
    }
}
