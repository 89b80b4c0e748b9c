//! The few scripts that are a patch: `apply_patch <<'EOF'`, alone or after `cd DIR &&`.

use super::{NAMES, Recognised};

/// Stands somewhere in a script.
pub(super) struct Script<'a> {
    rest: &'a str,
}

impl<'a> Script<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Script { rest: text.trim_start_matches([' ', '\t', '\n']) }
    }

    /// The call that the whole script is, if it is one.
    pub(super) fn call(mut self) -> Option<Recognised> {
        let first = self.word()?;
        let cd = if first == "cd" { Some(self.directory()?) } else { None };
        let name = if cd.is_some() { self.word()? } else { first };
        if !NAMES.contains(&name.as_str()) {
            return None;
        }
        let patch = self.here_document()?;
        self.rest.trim_matches([' ', '\t', '\n']).is_empty().then_some(Recognised::Call { patch, cd })
    }

    /// What `cd` is given, and the `&&` after it.
    fn directory(&mut self) -> Option<String> {
        // To some shells these begin an option, or a place on their stack of directories.
        let directory = self.word().filter(|word| !word.starts_with(['-', '+']))?;
        self.eat("&&")?;
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n']);
        Some(directory)
    }

    /// A word that every shell takes as it is: plain letters, or quoted as a whole.
    fn word(&mut self) -> Option<String> {
        let is_plain = |c: char| c.is_alphanumeric() || "-_./@%+,:".contains(c);
        let (word, rest) = match self.rest.chars().next()? {
            '\'' => self.quoted('\'', |_| true)?,
            '"' => self.quoted('"', |c| !"$`\\!".contains(c))?,
            _ => self.rest.split_at(self.rest.find(|c| !is_plain(c)).unwrap_or(self.rest.len())),
        };
        if word.is_empty() || !rest.starts_with([' ', '\t', '\n', '<', '&']) {
            return None;
        }
        self.rest = rest;
        self.skip_blanks();
        Some(word.to_owned())
    }

    /// What stands between two of these quotes, and what follows.
    fn quoted(&self, quote: char, is_literal: impl Fn(char) -> bool) -> Option<(&'a str, &'a str)> {
        let (inside, rest) = self.rest.strip_prefix(quote)?.split_once(quote)?;
        inside.chars().all(is_literal).then_some((inside, rest))
    }

    /// What `<<` announces, and its body.
    fn here_document(&mut self) -> Option<String> {
        self.eat("<<")?;
        let strips_tabs = self.eat("-").is_some();
        self.skip_blanks();
        let (announced, rest) = self.rest.split_once('\n')?;
        let (delimiter, is_literal) = delimiter(announced.trim_end_matches([' ', '\t']))?;
        let (mut body, mut read) = (String::new(), 0);
        for line in rest.split_inclusive('\n') {
            read += line.len();
            let line = if strips_tabs { line.trim_start_matches('\t') } else { line };
            if line.strip_suffix('\n').unwrap_or(line) == delimiter {
                self.rest = rest.get(read..)?;
                // Under a bare delimiter a shell would expand these.
                return (is_literal || !body.contains(['$', '`', '\\'])).then_some(body);
            }
            body.push_str(line);
        }
        None
    }

    fn eat(&mut self, sign: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(sign)?;
        Some(())
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }
}

/// The delimiter without its quotes, and whether it had some.
fn delimiter(word: &str) -> Option<(&str, bool)> {
    let quoted = ['\'', '"'].iter().find_map(|quote| word.strip_prefix(*quote)?.strip_suffix(*quote));
    let quoted = quoted.or_else(|| word.strip_prefix('\\'));
    let delimiter = quoted.unwrap_or(word);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!delimiter.is_empty() && delimiter.chars().all(is_plain)).then_some((delimiter, quoted.is_some()))
}
