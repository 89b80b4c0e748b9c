//! The file of rules that people made by their answers: added to as a whole or not at all.

use std::fmt::Write as _;
use std::io;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use runward_files::private;
use runward_files::{lock, open_unfollowed, replace};
use runward_model::Confinement;
use thiserror::Error;

/// What a new file begins with.
const HEAD: &str = "\
# Commands that people have allowed for good when they were asked about them, by their first words.
# Runward adds to this file; change or remove what you like. `escalated` also answers for callers that ask to
# run such a command outside the sandbox. `unchanged` ties a rule to files that commands may write, by their SHA-256: with
# other content, or for work that names other such files, it does not count and a person is asked again.
";

/// A file that is larger was not made by answers.
const LARGEST: u64 = 1 << 20;

/// How long another server's writing is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why a rule could not be added.
#[derive(Debug, Error)]
pub(crate) enum Problem {
    /// The file could not be read or replaced.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not a plain file of ours.
    #[error("{} {what}", .path.display())]
    Odd {
        /// Which.
        path: PathBuf,
        /// What is odd about it.
        what: &'static str,
    },
}

/// Whether a rule was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// It was.
    Now,
    /// It stood there already.
    Before,
}

/// What a person allows for good.
#[derive(Clone, Debug)]
pub(crate) struct Granted {
    /// What begins with these words.
    pub(crate) prefix: Vec<String>,
    /// How it may be held.
    pub(crate) confinement: Confinement,
    /// For as long as these files are as they are.
    pub(crate) tied: Vec<(PathBuf, String)>,
}

/// Adds a rule that allows what begins with these words, unless it is there. Everything else in the file stays as it
/// is, whoever reads it finds either the old one or the new one, and several servers may do this at once.
pub(crate) fn append(path: &Path, granted: &Granted) -> Result<Added, Problem> {
    let failed = |source| Problem::Io { path: path.to_owned(), source };
    if let Some(directory) = path.parent() {
        private::make(directory).map_err(failed)?;
    }
    // Beside the file, since the file itself is replaced.
    let _lock = lock(&beside(path, "lock"), PATIENCE).map_err(failed)?;
    let (mut text, mode) = existing(path)?;
    let rule = written(granted);
    if format!("\n{text}").contains(&format!("\n{rule}")) {
        return Ok(Added::Before);
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let text = if text.is_empty() { format!("{HEAD}\n{rule}") } else { format!("{text}\n{rule}") };
    replace(path, text.as_bytes(), mode).map_err(failed)?;
    Ok(Added::Now)
}

/// The text and the mode of the file; of a new one where there is none.
fn existing(path: &Path) -> Result<(String, u32), Problem> {
    let odd = |what| Problem::Odd { path: path.to_owned(), what };
    let failed = |source| Problem::Io { path: path.to_owned(), source };
    let mut file = match open_unfollowed(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((String::new(), 0o600)),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(odd("is a symbolic link; name the file itself in approvals.rules_file"));
        }
        Err(error) => return Err(failed(error)),
    };
    let found = file.metadata().map_err(failed)?;
    if !found.is_file() || found.len() > LARGEST {
        return Err(odd("is no plain file of at most 1 MiB"));
    }
    if found.uid() != private::user() {
        return Err(odd("belongs to another user, who would lose it; change its owner"));
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    Ok((text, found.mode() & 0o777))
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(end);
    name.into()
}

/// The rule as the file has it.
fn written(Granted { prefix, confinement, tied }: &Granted) -> String {
    let words: Vec<String> = prefix.iter().map(|word| quoted(word)).collect();
    let mut rule = format!("[[rule]]\npattern = [{}]\ndecision = \"allow\"\n", words.join(", "));
    if *confinement == Confinement::Escalated {
        rule.push_str("escalated = true\n");
    }
    if !tied.is_empty() {
        let pair = |(file, content): &(PathBuf, String)| {
            format!("{} = {}", quoted(&file.to_string_lossy()), quoted(content))
        };
        let _ = writeln!(rule, "unchanged = {{ {} }}", tied.iter().map(pair).collect::<Vec<_>>().join(", "));
    }
    rule
}

/// A TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    fn append(path: &Path, prefix: &[String], confinement: Confinement) -> Result<Added, Problem> {
        super::append(path, &Granted { prefix: prefix.to_vec(), confinement, tied: Vec::new() })
    }

    fn rules(path: &Path) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_rule_is_added_once_and_what_was_there_stays_byte_for_byte() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/rules.toml");
        assert_eq!(append(&path, &words(&["git", "log"]), Confinement::Usual).unwrap(), Added::Now);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
        let own = "# mine\r\n[[rule]]\npattern = ['x']\ndecision = 'deny'";
        fs::write(&path, own).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        for added in [Added::Now, Added::Before] {
            assert_eq!(append(&path, &words(&["git", "log"]), Confinement::Usual).unwrap(), added);
        }
        let wanted = format!("{own}\n\n[[rule]]\npattern = [\"git\", \"log\"]\ndecision = \"allow\"\n");
        assert_eq!(rules(&path), wanted);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
        let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().flatten().collect();
        assert_eq!(left.len(), 2, "the file and its lock: {left:?}");
    }

    #[test]
    fn a_longer_or_an_escalated_rule_is_another_rule() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rules.toml");
        for (prefix, confinement) in [
            (["git", "log"].as_slice(), Confinement::Usual),
            (&["git", "log"], Confinement::Escalated),
            (&["git", "log", "-1"], Confinement::Usual),
            (&["git"], Confinement::Usual),
        ] {
            assert_eq!(append(&path, &words(prefix), confinement).unwrap(), Added::Now, "{prefix:?}");
        }
        assert_eq!(rules(&path).matches("[[rule]]").count(), 4);
        assert_eq!(rules(&path).matches("escalated = true").count(), 1);
    }

    #[test]
    fn words_cannot_become_rules_of_their_own() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rules.toml");
        let hostile = "x\"]\ndecision = \"allow\"\n\n[[rule]]\npattern = [\"rm\\";
        append(&path, &words(&["git", hostile]), Confinement::Usual).unwrap();
        let lines: Vec<String> = rules(&path).lines().map(str::to_owned).collect();
        assert_eq!(lines.iter().filter(|line| *line == "[[rule]]").count(), 1, "{lines:?}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("decision")).count(), 1, "{lines:?}");
    }

    #[test]
    fn a_link_is_neither_followed_nor_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let (path, target) = (directory.path().join("rules.toml"), directory.path().join("target"));
        fs::write(&target, "kept").unwrap();
        symlink(&target, &path).unwrap();
        let problem = append(&path, &words(&["ls"]), Confinement::Usual).unwrap_err().to_string();
        assert!(problem.contains("is a symbolic link"), "{problem}");
        assert_eq!(rules(&target), "kept");
        fs::remove_file(&path).unwrap();
        fs::remove_file(directory.path().join("rules.toml.lock")).unwrap();
        symlink(&target, directory.path().join("rules.toml.lock")).unwrap();
        assert!(append(&path, &words(&["ls"]), Confinement::Usual).is_err());
        assert!(!path.exists());
    }

    #[test]
    fn everybody_who_adds_at_the_same_time_is_heard() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rules.toml");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..10 {
                        let prefix = words(&["tool", &format!("{writer}-{number}")]);
                        append(path, &prefix, Confinement::Usual).unwrap();
                        append(path, &words(&["shared"]), Confinement::Usual).unwrap();
                    }
                });
            }
        });
        let text = rules(&path);
        assert_eq!(text.matches("[[rule]]").count(), 41);
        assert_eq!(text.matches("[\"shared\"]").count(), 1);
        assert!(text.starts_with(HEAD));
    }
}
