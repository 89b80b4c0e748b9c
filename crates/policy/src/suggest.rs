//! The narrowest rule that would allow a command.

use std::fmt::Write as _;
use std::path::Path;

use crate::allowlist::against;
use crate::facts::Word;

/// More words than this are not worth a rule of their own.
const MOST: usize = 8;

/// A rule for the settings file that allows this command as far as its words are known.
pub(crate) fn rule_for(words: &[Word], cwd: Option<&Path>) -> Option<String> {
    let name = words.first()?.text()?;
    let program = if name.contains('/') { against(name, cwd)?.to_str()?.to_owned() } else { name.to_owned() };
    let known = words.iter().skip(1).map_while(Word::text).take(MOST).map(str::to_owned);
    let pattern: Vec<String> = std::iter::once(program).chain(known).map(|word| quoted(&word)).collect();
    Some(format!("[[rule]]\npattern = [{}]\ndecision = \"allow\"", pattern.join(", ")))
}

/// A TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
