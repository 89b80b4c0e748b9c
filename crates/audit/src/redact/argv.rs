//! Secrets by their looks, in words that no shell will read again.

use std::sync::LazyLock;

use regex::Regex;

use super::MARK;
use super::looks::{OPTION, compile, looks_secret, redact_command};

/// Options that mean a password to one program only: program, option, and whether the value is a word of its own.
const SPECIAL: &[(&str, &str, Place)] = &[
    ("mysql", "-p", Place::Joined),
    ("mariadb", "-p", Place::Joined),
    ("sshpass", "-p", Place::Either),
    ("redis-cli", "-a", Place::Either),
    ("docker", "-p", Place::Login),
    ("podman", "-p", Place::Login),
    ("helm", "-p", Place::Login),
];

/// Where the value of an option stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the same word.
    Joined,
    /// In the same word or the next.
    Either,
    /// The same, where the command is `login`.
    Login,
}

/// The words with everything taken out that looks like a secret. Takes time linear in their length.
pub fn redact_argv(words: &[String]) -> Vec<String> {
    let mut before = Before::default();
    words
        .iter()
        .map(|word| {
            let clean = before.redact(word);
            before.note(word);
            clean
        })
        .collect()
}

/// What the words so far say of the next. A program counts wherever its name stands, so that wrappers need no list.
#[derive(Default)]
struct Before<'a> {
    last: &'a str,
    special: Vec<(&'static str, Place)>,
    has_login: bool,
    has_curl: bool,
}

impl<'a> Before<'a> {
    fn note(&mut self, word: &'a str) {
        let name = word.rsplit('/').next().unwrap_or(word);
        for (program, option, place) in SPECIAL {
            if name.starts_with(program) && !self.special.contains(&(option, *place)) {
                self.special.push((option, *place));
            }
        }
        self.has_login |= word == "login";
        self.has_curl |= name == "curl";
        self.last = word;
    }

    fn redact(&self, word: &str) -> String {
        if !word.starts_with('-') && (is_secret_option(self.last) || self.takes_secret()) {
            return MARK.to_owned();
        }
        if let Some(option) = self.joined_secret(word) {
            return format!("{option}{MARK}");
        }
        match word.split_once('=') {
            Some((name, value)) if is_secret_option(name) || is_assignment(name, value) => {
                format!("{name}={MARK}")
            }
            _ => self.redact_user(word).unwrap_or_else(|| redact_command(word).into_owned()),
        }
    }

    fn special(&self) -> impl Iterator<Item = (&'static str, Place)> {
        self.special.iter().copied().filter(|(_, place)| *place != Place::Login || self.has_login)
    }

    fn takes_secret(&self) -> bool {
        self.special().any(|(option, place)| option == self.last && place != Place::Joined)
    }

    fn joined_secret(&self, word: &str) -> Option<&'static str> {
        let mut options = self.special().map(|(option, _)| option);
        options.find(|option| word.len() > option.len() && word.starts_with(option))
    }

    /// `curl -u user:password`.
    fn redact_user(&self, word: &str) -> Option<String> {
        let is_user = matches!(self.last, "-u" | "-U" | "--user" | "--proxy-user");
        let (user, _) = word.split_once(':').filter(|_| is_user && self.has_curl)?;
        Some(format!("{user}:{MARK}"))
    }
}

fn is_secret_option(word: &str) -> bool {
    static SECRET: LazyLock<Regex> = LazyLock::new(|| compile(&format!("(?i)^{OPTION}$")));
    SECRET.is_match(word)
}

/// A value that reads as a script is left to the reader of text: `TOKEN=x; rm` must show its second half.
fn is_assignment(name: &str, value: &str) -> bool {
    looks_secret(name) && !value.contains([';', '|', '&', '\n', '`', '$', '('])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_of_words_whatever_they_contain() {
        for (given, left) in [
            (vec!["tool", "--password=a b;c", "x"], vec!["tool", "--password=[redacted]", "x"]),
            (vec!["tool", "--password", "a b;c", "x"], vec!["tool", "--password", "[redacted]", "x"]),
            (vec!["tool", "--token", "--verbose"], vec!["tool", "--token", "--verbose"]),
            (vec!["env", "API_KEY=a b", "x"], vec!["env", "API_KEY=[redacted]", "x"]),
            (vec!["sh", "-c", "TOKEN=a; rm -rf /"], vec!["sh", "-c", "TOKEN=[redacted]; rm -rf /"]),
            (
                vec!["curl", "-H", "Authorization: Bearer abc"],
                vec!["curl", "-H", "Authorization: Bearer [redacted]"],
            ),
            (vec!["curl", "-u", "ada:hunter 2", "x"], vec!["curl", "-u", "ada:[redacted]", "x"]),
            (
                vec!["sudo", "/usr/bin/mysqldump", "-phunter2"],
                vec!["sudo", "/usr/bin/mysqldump", "-p[redacted]"],
            ),
            (vec!["mysql", "-p", "db"], vec!["mysql", "-p", "db"]),
            (vec!["sshpass", "-p", "hunter2", "ssh"], vec!["sshpass", "-p", "[redacted]", "ssh"]),
            (vec!["docker", "login", "-p", "x y"], vec!["docker", "login", "-p", "[redacted]"]),
            (vec!["docker", "run", "-p", "80:80"], vec!["docker", "run", "-p", "80:80"]),
            (vec!["git", "clone", "https://a:b@c/d"], vec!["git", "clone", "https://a:[redacted]@c/d"]),
            (vec!["ls", "-la", "/"], vec!["ls", "-la", "/"]),
        ] {
            let words: Vec<String> = given.iter().map(ToString::to_string).collect();
            assert_eq!(redact_argv(&words), left, "{given:?}");
        }
    }
}
