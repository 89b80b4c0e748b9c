//! `find … -exec command ;`

use super::{Enclosed, filled_in};
use crate::facts::{Count, Word};

/// Predicates that are followed by one value of their own.
const VALUED: &[&str] = &[
    "-amin",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-context",
    "-ctime",
    "-D",
    "-files0-from",
    "-fls",
    "-fprint",
    "-fprint0",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-iwholename",
    "-links",
    "-lname",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-name",
    "-newer",
    "-path",
    "-perm",
    "-printf",
    "-regex",
    "-regextype",
    "-samefile",
    "-size",
    "-type",
    "-uid",
    "-used",
    "-user",
    "-wholename",
    "-xtype",
];

/// Predicates and options without one. What is in neither list could be followed by a value that looks like an action.
const BARE: &[&str] = &[
    "-H",
    "-L",
    "-P",
    "-a",
    "-and",
    "-daystart",
    "-delete",
    "-depth",
    "-d",
    "-empty",
    "-executable",
    "-false",
    "-follow",
    "-help",
    "-ignore_readdir_race",
    "-ls",
    "-mount",
    "-nogroup",
    "-noignore_readdir_race",
    "-noleaf",
    "-not",
    "-nouser",
    "-nowarn",
    "-o",
    "-or",
    "-print",
    "-print0",
    "-prune",
    "-quit",
    "-readable",
    "-true",
    "-version",
    "-warn",
    "-writable",
    "-x",
    "-xdev",
    "--",
    "--help",
    "--version",
];

/// How many values follow a predicate; `None` when it is not known.
fn values(predicate: &str) -> Option<usize> {
    let level = predicate.strip_prefix("-O").is_some_and(|level| level.bytes().all(|b| b.is_ascii_digit()));
    let newer = predicate
        .strip_prefix("-newer")
        .is_some_and(|kinds| kinds.len() == 2 && kinds.bytes().all(|kind| b"aBcmt".contains(&kind)));
    match predicate {
        "-fprintf" => Some(2),
        _ if newer || VALUED.contains(&predicate) => Some(1),
        _ if level || predicate == "-" || BARE.contains(&predicate) => Some(0),
        _ => None,
    }
}

/// The commands that `find` would start.
pub(super) fn enclosed(args: &[Word]) -> Result<Vec<Enclosed>, String> {
    let mut found = Vec::new();
    let mut rest = args;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let Some(text) = first.text() else {
            let begins = first.prefix();
            if first.count() == Count::Any || begins.is_empty() || begins.starts_with('-') {
                return Err(format!(
                    "\"{}\" may be an action of \"find\"; begin it with ./ or / and quote it",
                    first.raw
                ));
            }
            continue;
        };
        match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let (mut inner, remaining) = action(text, rest)?;
                inner.moved = text.ends_with("dir");
                found.push(inner);
                rest = remaining;
            }
            predicate if predicate.starts_with('-') => {
                let count = values(predicate).ok_or_else(|| super::options::not_known("find", first))?;
                for _ in 0..count {
                    rest = value(first, rest)?;
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

fn value<'a>(predicate: &Word, rest: &'a [Word]) -> Result<&'a [Word], String> {
    match rest.split_first() {
        Some((value, _)) if value.is_many() => {
            Err(format!("\"{}\" after \"{}\" may become several words; quote it", value.raw, predicate.raw))
        }
        Some((_, after)) => Ok(after),
        None => Ok(rest),
    }
}

/// The command between `-exec` and its end, and what follows.
fn action<'a>(name: &str, rest: &'a [Word]) -> Result<(Enclosed, &'a [Word]), String> {
    let ends = |at: usize| match rest.get(at).and_then(Word::text) {
        Some(";") => true,
        // `-ok` and `-okdir` end at `;` alone.
        Some("+") if name.starts_with("-exec") => {
            at > 0 && rest.get(at - 1).and_then(Word::text) == Some("{}")
        }
        _ => false,
    };
    let Some(end) = (0..rest.len()).find(|at| ends(*at)) else {
        return Err(format!("the command after \"{name}\" has no end; close it with \\;"));
    };
    let mut words = rest.get(..end).unwrap_or_default().to_vec();
    if let Some(loose) = words.iter().find(|word| word.is_many()) {
        return Err(format!("\"{}\" after \"{name}\" may become several words; quote it", loose.raw));
    }
    for word in &mut words {
        filled_in(word, "{}");
    }
    Ok((Enclosed::new(words), rest.get(end + 1..).unwrap_or_default()))
}
