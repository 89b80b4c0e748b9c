//! Text that a program hands to a shell.

use crate::facts::{Fact, Word, facts_of};

/// Shells whose language the reader knows.
const BASH: &[&str] = &["bash", "rbash"];
/// Shells whose language it knows as far as it is that of bash.
const PLAIN: &[&str] = &["sh", "dash", "ash"];
/// Shells with languages of their own.
const OTHERS: &[&str] =
    &["zsh", "fish", "csh", "tcsh", "ksh", "ksh93", "mksh", "lksh", "yash", "pwsh", "elvish", "nu", "xonsh"];

/// Programs that have something else start a command, now or later.
const ELSEWHERE: &[&str] = &[
    "abduco",
    "at",
    "batch",
    "busctl",
    "byobu",
    "crontab",
    "dbus-send",
    "dtach",
    "emacsclient",
    "gdbus",
    "incrontab",
    "qdbus",
    "screen",
    "systemd-run",
    "tmux",
    "zellij",
];

/// Programs that start a shell, which reads its input.
const START_SHELLS: &[&str] = &["login", "newgrp", "sulogin"];

/// What bash reads in another way than plain shells do. It counts wherever it stands, quoted or not.
const ONLY_BASH: &[&str] = &[
    "[[", "((", "$'", "$\"", "<(", ">(", "&>", "=(", "<<<", "|&", ";&", "function", "coproc", "select", "$[",
];

/// Settings of git that cannot make it run anything.
const TAME: &[&str] =
    &["user.", "color.", "advice.", "init.defaultbranch=", "core.quotepath=", "safe.directory="];

/// What the text that a command hands to a shell would do; `None` when it hands none. An error is a sentence: why that
/// cannot be known.
pub(crate) fn handed(name: &str, args: &[Word]) -> Result<Option<Vec<Fact>>, String> {
    if name == "git" {
        return configures(args).map(|()| None);
    }
    if OTHERS.contains(&name) {
        return Err(format!("what \"{name}\" is given is not read; use bash"));
    }
    if ELSEWHERE.contains(&name) {
        return Err(format!("what \"{name}\" has started elsewhere is not read"));
    }
    if START_SHELLS.contains(&name) {
        return Err(format!("\"{name}\" starts a shell, which runs what it reads from its input"));
    }
    if !BASH.contains(&name) && !PLAIN.contains(&name) {
        return Ok(None);
    }
    let Some(script) = script(name, args)? else { return Ok(None) };
    if PLAIN.contains(&name)
        && let Some(odd) = ONLY_BASH.iter().find(|odd| script.replace("$((", "").contains(*odd))
    {
        return Err(format!(
            "\"{odd}\" means one thing to bash and may mean another to \"{name}\"; use bash -c"
        ));
    }
    let facts = facts_of(script);
    facts.map(Some).map_err(|why| format!("the script for \"{name}\" cannot be judged: {why}"))
}

/// Whether something is known here of what this program is given.
pub(super) fn is_known(name: &str) -> bool {
    let lists = [BASH, PLAIN, OTHERS, ELSEWHERE, START_SHELLS];
    name == "git" || lists.iter().any(|list| list.contains(&name))
}

/// The text after `-c`, if there is one. A file of that name is a program like any other.
fn script<'a>(name: &str, args: &'a [Word]) -> Result<Option<&'a str>, String> {
    let not_known = |word: &Word| {
        format!("\"{}\" as an argument of \"{name}\" cannot be judged before it runs", word.raw)
    };
    let mut command = false;
    let mut rest = args;
    while let Some((first, after)) = rest.split_first() {
        let text = first.text().ok_or_else(|| not_known(first))?;
        if text.len() < 2 && text != "-" || !text.starts_with(['-', '+']) {
            break;
        }
        rest = after;
        match text {
            "-" | "--" => break,
            "--login" | "--noprofile" | "--norc" | "--posix" | "--verbose" | "--restricted" => {}
            _ if text.starts_with("--") => return Err(not_known(first)),
            cluster => {
                for letter in cluster.chars().skip(1) {
                    match letter {
                        'c' if cluster.starts_with('-') => command = true,
                        'o' | 'O' => rest = option_name(rest).ok_or_else(|| not_known(first))?,
                        'a' | 'b' | 'e' | 'f' | 'h' | 'k' | 'l' | 'm' | 'n' | 'p' | 'u' | 'v' | 'x' | 'C'
                        | 'E' | 'T' => {}
                        _ => return Err(not_known(first)),
                    }
                }
            }
        }
    }
    let Some(operand) = rest.first() else {
        return Err(format!("\"{name}\" would run what it reads from its input; give it -c and a script"));
    };
    let text = operand.text().ok_or_else(|| not_known(operand))?;
    if command {
        return Ok(Some(text));
    }
    if ["/dev/", "/proc/"].iter().any(|place| text.contains(place)) {
        return Err(not_known(operand));
    }
    Ok(None)
}

/// Skips the name after `-o`.
fn option_name(rest: &[Word]) -> Option<&[Word]> {
    let (name, after) = rest.split_first()?;
    name.text()?;
    Some(after)
}

/// Refuses the same settings behind `git clone`, where they stand among its own options, and repositories that are commands.
fn clones_with(args: &[Word]) -> Result<(), String> {
    if !args.iter().any(|word| word.text() == Some("clone")) {
        return Ok(());
    }
    let untame = |set: &str| !TAME.iter().any(|tame| set.to_lowercase().starts_with(tame));
    for (at, word) in args.iter().enumerate() {
        let next = || args.get(at + 1).map(Word::prefix).unwrap_or_default();
        let set = match word.prefix() {
            "-c" | "--config" => next(),
            given => match given.strip_prefix("--config=") {
                Some(set) => set,
                None => continue,
            },
        };
        if untame(set) {
            return Err(format!("the setting \"{set}\" may make git run other commands"));
        }
    }
    Ok(())
}

/// Refuses settings by which git runs other commands.
fn configures(args: &[Word]) -> Result<(), String> {
    clones_with(args)?;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let prefix = arg.prefix();
        if arg.text().is_none() && prefix.is_empty() || !prefix.starts_with('-') {
            return Ok(());
        }
        let set = match prefix {
            "-c" => args.next().map(Word::prefix).unwrap_or_default(),
            "-C" | "--git-dir" | "--work-tree" | "--namespace" => {
                args.next();
                continue;
            }
            _ if prefix.starts_with("--config-env") || prefix.starts_with("--exec-path=") => prefix,
            _ => match prefix.strip_prefix("-c") {
                Some(attached) => attached,
                None => continue,
            },
        };
        if !TAME.iter().any(|tame| set.to_lowercase().starts_with(tame)) {
            return Err(format!("the setting \"{set}\" may make git run other commands"));
        }
    }
    Ok(())
}
