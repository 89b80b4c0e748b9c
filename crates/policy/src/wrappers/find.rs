//! `find … -exec command ;`

use super::{Enclosed, filled_in};
use crate::script::{Count, Word};

/// Predicates that are followed by one value of their own.
const VALUED: &[&str] = &[
    "-amin",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-context",
    "-ctime",
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
            valued if VALUED.contains(&valued) => rest = value(first, rest)?,
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
        Some("+") => at > 0 && rest.get(at - 1).and_then(Word::text) == Some("{}"),
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
