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

/// The words with everything taken out that looks like a secret.
pub fn redact_argv(words: &[String]) -> Vec<String> {
    let mut clean = Vec::with_capacity(words.len());
    let mut before: &[String] = &[];
    for (at, word) in words.iter().enumerate() {
        clean.push(redact_word(before, word));
        before = words.get(..=at).unwrap_or_default();
    }
    clean
}

fn redact_word(before: &[String], word: &str) -> String {
    if !word.starts_with('-')
        && before.last().is_some_and(|last| is_secret_option(last) || takes_secret(before, last))
    {
        return MARK.to_owned();
    }
    if let Some(option) = joined_secret(before, word) {
        return format!("{option}{MARK}");
    }
    match word.split_once('=') {
        Some((name, value)) if is_secret_option(name) || is_assignment(name, value) => {
            format!("{name}={MARK}")
        }
        _ => redact_user(before, word).unwrap_or_else(|| redact_command(word).into_owned()),
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

fn takes_secret(before: &[String], option: &str) -> bool {
    special(before).any(|(known, place)| known == option && place != Place::Joined)
}

fn joined_secret(before: &[String], word: &str) -> Option<&'static str> {
    special(before)
        .map(|(option, _)| option)
        .find(|option| word.len() > option.len() && word.starts_with(option))
}

/// What is special about the program that these words start, wherever among them its name stands.
fn special(before: &[String]) -> impl Iterator<Item = (&'static str, Place)> {
    let names = |program: &str| before.iter().any(|word| base_name(word).starts_with(program));
    let found = SPECIAL.iter().filter(move |(program, _, _)| names(program));
    let login = before.iter().any(|word| word == "login");
    found
        .filter(move |(_, _, place)| *place != Place::Login || login)
        .map(|(_, option, place)| (*option, *place))
}

/// `curl -u user:password`.
fn redact_user(before: &[String], word: &str) -> Option<String> {
    let is_user = |option: &String| matches!(option.as_str(), "-u" | "-U" | "--user" | "--proxy-user");
    before.last().filter(|last| is_user(last))?;
    before.iter().find(|word| base_name(word) == "curl")?;
    word.split_once(':').map(|(user, _)| format!("{user}:{MARK}"))
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
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
