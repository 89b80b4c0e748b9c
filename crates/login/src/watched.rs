//! The files that a login shell reads, and whether any of them has changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use runward_files::Stamp;

/// Files that bash reads by itself when it is a login shell, and those that these usually read.
const SYSTEM: [&str; 4] = ["/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/bashrc"];

/// The same in the home directory.
const PERSONAL: [&str; 4] = [".bash_profile", ".bash_login", ".profile", ".bashrc"];

/// No more files than this are watched.
const MOST: usize = 512;

/// Longer files are watched, and not searched for the names of others.
const LONGEST: u64 = 256 << 10;

/// Files as they were.
#[derive(Debug)]
pub(crate) struct Watched(BTreeMap<PathBuf, Option<Stamp>>);

impl Watched {
    /// Everything that a login shell with this home reads, followed through `.` and `source` as far as names can be
    /// told without running anything.
    pub(crate) fn of(home: &Path) -> Self {
        let mut found = BTreeMap::new();
        let mut waiting: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        waiting.extend(PERSONAL.iter().map(|name| home.join(name)));
        while let Some(path) = waiting.pop() {
            if found.len() >= MOST || found.contains_key(&path) {
                continue;
            }
            found.insert(path.clone(), stamp(&path));
            match fs::metadata(&path) {
                Ok(file) if file.is_dir() => waiting.extend(entries(&path)),
                Ok(file) if file.is_file() && file.len() <= LONGEST => waiting.extend(read_by(&path, home)),
                _ => {}
            }
        }
        Watched(found)
    }

    /// Another one, as it is now.
    pub(crate) fn add(&mut self, path: &Path) {
        self.0.insert(path.to_owned(), stamp(path));
    }

    /// Whether each of them is as it was, or still missing.
    pub(crate) fn are_unchanged(&self) -> bool {
        self.0.iter().all(|(path, known)| stamp(path) == *known)
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    Stamp::of(path).ok()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.is_file()).take(MOST).collect()
}

/// Files that a script names after `.` and `source`, and directories whose files it goes through.
fn read_by(script: &Path, home: &Path) -> Vec<PathBuf> {
    let Ok(text) = fs::read(script) else { return Vec::new() };
    let home = home.to_string_lossy();
    let text = String::from_utf8_lossy(&text).replace("${HOME}", &home).replace("$HOME", &home);
    let text: String = text.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect();
    text.lines().flat_map(|line| named_in(line, &home)).collect()
}

fn named_in(line: &str, home: &str) -> Vec<PathBuf> {
    let is_edge = |c: char| c.is_whitespace() || ";&|()<>{}`".contains(c);
    let (mut found, mut previous, mut in_list) = (Vec::new(), "", false);
    for word in line.split(is_edge).filter(|word| !word.is_empty()) {
        in_list = (in_list || previous == "in") && word != "do";
        let named = if matches!(previous, "." | "source") { file(word, home) } else { None };
        let listed = if in_list { directory(word, home) } else { None };
        found.extend(named.or(listed));
        previous = word;
    }
    found
}

/// A path without anything that only a shell could expand.
fn file(word: &str, home: &str) -> Option<PathBuf> {
    let path = match word.strip_prefix("~/") {
        Some(rest) => Path::new(home).join(rest),
        None => PathBuf::from(word),
    };
    (path.is_absolute() && !word.contains(['$', '*', '?', '['])).then_some(path)
}

/// The directory of a pattern.
fn directory(word: &str, home: &str) -> Option<PathBuf> {
    let (directory, pattern) = word.rsplit_once('/')?;
    pattern.contains(['*', '?', '[']).then(|| file(directory, home))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(line: &str) -> Vec<String> {
        let script = tempfile::NamedTempFile::new().unwrap();
        fs::write(script.path(), line).unwrap();
        read_by(script.path(), Path::new("/h")).iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn files_are_found_by_the_words_before_them() {
        assert_eq!(paths("if [ -f ~/.a ]; then . ~/.a; fi\nsource \"$HOME/b c\""), ["/h/.a", "/h/b"]);
        assert_eq!(paths("[ -s '/x/nvm.sh' ] && \\. \"/x/nvm.sh\" # load"), ["/x/nvm.sh"]);
        assert_eq!(paths("for i in ${HOME}/d/*.sh /e/*; do . \"$i\"; done"), ["/h/d", "/e"]);
    }

    #[test]
    fn files_that_are_merely_written_or_only_known_later_are_not_watched() {
        assert!(paths("echo x >> ~/log; rm /tmp/x*; . $DIR/file; . relative").is_empty());
    }

    #[test]
    fn a_change_an_appearance_and_a_removal_are_seen_through_other_files() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::create_dir(at("d")).unwrap();
        fs::write(at(".profile"), ". ~/more\nfor f in ~/d/*.sh; do . $f; done\n").unwrap();
        let changes: [&dyn Fn(); 5] = [
            &|| fs::write(at("more"), "x=1").unwrap(),
            &|| fs::write(at("more"), "x=12").unwrap(),
            &|| fs::write(at("d/a.sh"), "").unwrap(),
            &|| fs::remove_file(at("d/a.sh")).unwrap(),
            &|| fs::write(at(".bash_profile"), "").unwrap(),
        ];
        for change in changes {
            let watched = Watched::of(home.path());
            assert!(watched.are_unchanged());
            change();
            assert!(!watched.are_unchanged());
        }
    }
}
