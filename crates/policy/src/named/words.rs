//! From words to the files that they may name. Too many is no harm; too few would be.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::{Glob, SearchPath};

/// Directories in which names are looked for; work that names more is not asked about.
const MOST_PLACES: usize = 64;

/// More entries of a directory are not held against a pattern.
const MOST_ENTRIES: usize = 4096;

/// What ends a word of a shell, or begins another one inside it.
const EDGES: &[char] = &[
    ' ', '\t', '\n', '\r', ';', '|', '&', '<', '>', '(', ')', '{', '}', '\'', '"', '`', '$', '=', ',', ':',
    '@', '!', '#',
];

/// Words as they are, and what stands in them.
pub(super) fn in_words<'a>(words: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for word in words {
        found.insert(word.to_owned());
        found.extend(in_text(word));
    }
    found
}

/// Everything in a text that could be a word or a part of one: `-fMakefile`, `--file=x`, `"$PWD"/x`, `< x`.
pub(super) fn in_text(text: &str) -> BTreeSet<String> {
    let plain = text.replace('\\', "");
    let pieces = plain.split(EDGES).chain(plain.split_whitespace()).filter(|piece| !piece.is_empty());
    let mut found = BTreeSet::new();
    for piece in pieces {
        let quoted = piece.trim_matches(['\'', '"']);
        let joined = quoted.strip_prefix('-').and_then(|option| option.get(1..));
        // Behind a variable: `"$PWD"/x`.
        let behind = quoted.split_once('/').map(|(_, rest)| rest);
        found.extend([Some(quoted), joined, behind].into_iter().flatten().map(str::to_owned));
    }
    found.remove("");
    found
}

/// Where names are looked for: the working directory, those that the work itself names, and the search path.
pub(super) struct Places<'a> {
    directories: Vec<PathBuf>,
    path: &'a SearchPath,
    home: Option<PathBuf>,
}

impl<'a> Places<'a> {
    pub(super) fn new(cwd: &Path, path: &'a SearchPath) -> Self {
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        Places { directories: vec![cwd.to_owned()], path, home }
    }

    /// Every regular file that these words may name, or why there are too many places for them.
    pub(super) fn of_words(&mut self, words: &BTreeSet<String>) -> Result<BTreeSet<PathBuf>, String> {
        let mut known = 0;
        // Again for what is found in what was found: `cd a && cd b`.
        while known < self.directories.len() {
            known = self.directories.len();
            words.iter().try_for_each(|word| self.learn(word))?;
        }
        Ok(words.iter().flat_map(|word| self.files(word)).collect())
    }

    /// Commands may go where a word leads.
    fn learn(&mut self, word: &str) -> Result<(), String> {
        if word == "." || word.contains('\0') {
            return Ok(());
        }
        let home = matches!(word, "cd" | "~").then(|| self.home.clone()).flatten();
        for directory in home.into_iter().chain(self.ways(word)) {
            // By where they lie: `..` of `..` has no end.
            let Ok(directory) = directory.canonicalize() else { continue };
            if self.directories.contains(&directory) || !directory.is_dir() {
                continue;
            }
            if self.directories.len() == MOST_PLACES {
                return Err(format!("it names more than {MOST_PLACES} directories; split it up"));
            }
            self.directories.push(directory);
        }
        Ok(())
    }

    fn ways(&self, word: &str) -> Vec<PathBuf> {
        let mut ways: Vec<PathBuf> = self.directories.iter().map(|place| place.join(word)).collect();
        let at_home = word.strip_prefix("~/").zip(self.home.as_ref());
        ways.extend(at_home.map(|(rest, home)| home.join(rest)));
        ways.dedup();
        ways
    }

    fn files(&self, word: &str) -> Vec<PathBuf> {
        if word.contains('\0') {
            return Vec::new();
        }
        let mut found: Vec<PathBuf> = self.ways(word).into_iter().filter(|way| way.is_file()).collect();
        found.extend(self.path.find(word));
        if word.contains(['*', '?', '[']) {
            found.extend(self.ways(word).iter().flat_map(|way| matching(way)));
        }
        found
    }
}

/// The files that a pattern in the last part of a path stands for.
fn matching(pattern: &Path) -> Vec<PathBuf> {
    let (Some(directory), Some(name)) =
        (pattern.parent(), pattern.file_name().and_then(|name| name.to_str()))
    else {
        return Vec::new();
    };
    // What stands in brackets is any letter.
    let glob = Glob::new(any_letter(name));
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().take(MOST_ENTRIES);
    let fits = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| glob.matches(name))
            && path.is_file()
    };
    entries.map(|entry| entry.path()).filter(fits).collect()
}

fn any_letter(pattern: &str) -> String {
    let mut plain = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before);
        plain.push('?');
        rest = after.split_once(']').map_or("", |(_, behind)| behind);
    }
    plain + rest
}
