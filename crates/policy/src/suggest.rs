//! The narrowest rule that would allow a command and is of use for more than that one call.

use std::fmt::Write as _;
use std::path::Path;

use crate::allowlist::against;
use crate::facts::Word;
use crate::too_wide;

/// More words than this are not worth a rule of their own.
const MOST: usize = 8;

/// A program and what it is told to do, as in `cargo test`.
const FEWEST: usize = 2;

/// A rule for the settings file: the first words of this command, as few as say what it does.
pub(crate) fn rule_for(words: &[Word], cwd: Option<&Path>) -> Option<String> {
    let name = words.first()?.text()?;
    let program = if name.contains('/') { against(name, cwd)?.to_str()?.to_owned() } else { name.to_owned() };
    let known = words.iter().skip(1).map_while(Word::text).take(MOST).map(str::to_owned);
    let all: Vec<String> = std::iter::once(program).chain(known).collect();
    let narrow = |count: &usize| all.get(..*count).is_some_and(|prefix| too_wide(prefix).is_none());
    let count = (FEWEST.min(all.len())..=all.len()).find(narrow).unwrap_or(all.len());
    let pattern: Vec<String> = all.iter().take(count).map(|word| quoted(word)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_holds_as_few_words_as_say_what_a_command_does() {
        for (line, pattern) in [
            ("cargo test -p model some_filter", r#"["cargo", "test"]"#),
            ("whoami", r#"["whoami"]"#),
            ("git push origin main", r#"["git", "push", "origin"]"#),
            ("npm run build -- --watch", r#"["npm", "run", "build"]"#),
            ("rm -rf build dist", r#"["rm", "-rf", "build", "dist"]"#),
            ("python3 manage.py test app", r#"["python3", "manage.py"]"#),
            ("grep -rn a b", r#"["grep", "-rn"]"#),
        ] {
            let words: Vec<Word> = line.split(' ').map(Word::known).collect();
            let rule = rule_for(&words, None).unwrap();
            assert!(rule.contains(&format!("pattern = {pattern}\n")), "{line}: {rule}");
        }
    }
}
