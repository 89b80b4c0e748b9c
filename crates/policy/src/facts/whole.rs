//! What a script does anywhere, gathered before the flow is followed.

use std::collections::HashSet;

use runward_script::{List, is_identifier};

use super::walk::Walker;
use super::word::{Word, is_integer};
use super::{Fact, numbers};

/// What a script does anywhere.
#[derive(Debug, Default)]
pub(super) struct Whole {
    /// The functions that it defines.
    pub(super) functions: HashSet<String>,
    /// Variables that it may give something else than a number.
    pub(super) texts: HashSet<String>,
    /// Variables that it may make arrays.
    pub(super) arrays: HashSet<String>,
    /// Variables that it makes read-only.
    pub(super) read_only: HashSet<String>,
    /// Those of which nobody knows that they hold a number, whatever they were given last.
    pub(super) fixed: HashSet<String>,
}

impl Whole {
    pub(super) fn of(list: &List) -> Result<Self, String> {
        let mut walker = Walker::new(None);
        walker.list(list)?;
        let mut whole = Whole { texts: walker.texts, arrays: walker.arrays, ..Whole::default() };
        if walker.interrupted {
            // A handler may give it that between the assignment of a number and its use.
            whole.fixed.extend(whole.texts.iter().cloned());
        }
        for fact in &walker.facts {
            match fact {
                Fact::Function(name) => {
                    whole.functions.insert(name.clone());
                }
                Fact::Command(words) => whole.command(words),
                Fact::Assigned(..) | Fact::Counted { .. } | Fact::Input(..) | Fact::Timed => {}
            }
        }
        Ok(whole)
    }

    fn command(&mut self, words: &[Word]) {
        for (at, word) in words.iter().enumerate().take(numbers::FRONT) {
            let args = words.get(at + 1..).unwrap_or_default();
            if matches!(word.text(), Some("read" | "mapfile" | "readarray")) {
                self.arrays.extend(args.iter().filter_map(|arg| Some(arg.text()?.to_owned())));
            }
            let reads_only = match word.text() {
                Some("readonly") => true,
                Some("declare" | "typeset" | "local") => {
                    args.iter().any(|arg| arg.prefix().starts_with('-') && arg.prefix().contains('r'))
                }
                _ => false,
            };
            if reads_only {
                for arg in args {
                    self.made_read_only(arg);
                }
            }
        }
    }

    fn made_read_only(&mut self, arg: &Word) {
        let (name, value) = arg.prefix().split_once('=').unwrap_or((arg.prefix(), ""));
        let name = name.strip_suffix('+').unwrap_or(name);
        if !is_identifier(name) {
            return;
        }
        self.read_only.insert(name.to_owned());
        if arg.text().is_none() || !is_integer(value) {
            self.fixed.insert(name.to_owned());
        }
    }
}
