//! Options that come before the command of a wrapper.

use super::table::{Inner, Wrapper};
use crate::facts::Word;

/// What stood before the command.
#[derive(Default)]
pub(super) struct Options<'a> {
    /// Everything from the first operand on.
    pub(super) rest: &'a [Word],
    /// The letters of the short options that were given.
    pub(super) seen: Vec<char>,
    /// What input replaces (`xargs -I`).
    pub(super) marker: Option<String>,
    /// Variables that are taken away (`env -u`).
    pub(super) unset: Vec<String>,
    /// A command line for a shell (`-c`).
    pub(super) line: Vec<Word>,
}

/// The option of `xargs` that names what input replaces.
const MARKER: char = 'I';

/// The sentence for an option that this reader does not know.
pub(super) fn not_known(name: &str, word: &Word) -> String {
    format!("\"{}\" is no option of \"{name}\" that can be judged", word.raw)
}

/// Reads the options of a wrapper. What is not in its table is refused.
pub(super) fn read<'a>(wrapper: &Wrapper, args: &'a [Word]) -> Result<Options<'a>, String> {
    let mut options = Options { rest: args, ..Options::default() };
    while let Some((first, after)) = options.rest.split_first() {
        let prefix = first.prefix();
        if first.is_many() || first.text().is_none() && (prefix.is_empty() || prefix.starts_with('-')) {
            if wrapper.takes_any_operand(prefix) {
                return Ok(options);
            }
            return Err(format!("\"{}\" may be an option of \"{}\" or its command", first.raw, wrapper.name));
        }
        let Some(text) = first.text().filter(|text| text.starts_with('-')) else { return Ok(options) };
        options.rest = after;
        match text {
            // What follows it goes to a shell or is a command, depending on the program's version.
            "--" if matches!(wrapper.inner, Inner::LineOption) => return Err(not_known(wrapper.name, first)),
            "--" => return Ok(options),
            "-" if wrapper.flags.contains('-') => {}
            _ if wrapper.numbers
                && text.bytes().skip(1).all(|byte| byte.is_ascii_digit())
                && text.len() > 1 => {}
            _ => match text.strip_prefix("--") {
                Some(long) => long_option(wrapper, first, long, &mut options)?,
                None => short_options(wrapper, first, text.get(1..).unwrap_or_default(), &mut options)?,
            },
        }
    }
    Ok(options)
}

fn long_option(wrapper: &Wrapper, word: &Word, long: &str, options: &mut Options<'_>) -> Result<(), String> {
    let (name, value) = match long.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (long, None),
    };
    if wrapper.long_flags.contains(&name) && value.is_none() {
        return Ok(());
    }
    let Some((_, letter)) = wrapper.long_valued.iter().find(|(known, _)| *known == name) else {
        return Err(not_known(wrapper.name, word));
    };
    match value {
        Some(value) => take_value(wrapper, *letter, &Word::known(value), options),
        // Some take a value only where it is attached, and the next word would be the command.
        None if *letter == MARKER => Err(not_known(wrapper.name, word)),
        None => next_value(wrapper, word, *letter, options),
    }
}

fn short_options(
    wrapper: &Wrapper,
    word: &Word,
    cluster: &str,
    options: &mut Options<'_>,
) -> Result<(), String> {
    for (at, letter) in cluster.char_indices() {
        let attached = cluster.get(at + letter.len_utf8()..).unwrap_or_default();
        if wrapper.flags.contains(letter) && letter != '-' {
            options.seen.push(letter);
        } else if wrapper.optional.contains(letter) {
            return take_value(wrapper, letter, &Word::known(attached), options);
        } else if wrapper.valued.contains(letter) {
            if attached.is_empty() {
                return next_value(wrapper, word, letter, options);
            }
            return take_value(wrapper, letter, &Word::known(attached), options);
        } else {
            return Err(not_known(wrapper.name, word));
        }
    }
    if cluster.is_empty() { Err(not_known(wrapper.name, word)) } else { Ok(()) }
}

fn next_value(wrapper: &Wrapper, word: &Word, letter: char, options: &mut Options<'_>) -> Result<(), String> {
    match options.rest.split_first() {
        Some((value, after)) if !value.is_many() => {
            options.rest = after;
            take_value(wrapper, letter, value, options)
        }
        _ => Err(not_known(wrapper.name, word)),
    }
}

fn take_value(
    wrapper: &Wrapper,
    letter: char,
    value: &Word,
    options: &mut Options<'_>,
) -> Result<(), String> {
    let again = options.seen.contains(&letter);
    options.seen.push(letter);
    match (&wrapper.inner, letter) {
        (Inner::Xargs, MARKER | 'i') => {
            let bare = letter == 'i' && value.text() == Some("");
            let given = if bare { Some("{}") } else { value.text().filter(|text| !text.is_empty()) };
            options.marker = Some(given.ok_or_else(|| not_known(wrapper.name, value))?.to_owned());
        }
        (Inner::Variables, 'u') if wrapper.name == "env" => {
            let name = value.text().ok_or_else(|| not_known(wrapper.name, value))?;
            options.unset.push(name.to_owned());
        }
        // The last one would count, wherever it stands.
        (Inner::LineOption, 'c') if again => {
            return Err(format!("\"{}\" is given more than one command; give it one", wrapper.name));
        }
        (Inner::LineOption, 'c') => options.line = vec![value.clone()],
        _ => {}
    }
    Ok(())
}

/// Refuses what stands behind the options of a program that looks for more of them everywhere, or hands on what it does
/// not know itself: at most one plain operand may follow.
pub(super) fn one_operand(wrapper: &Wrapper, options: &Options<'_>) -> Result<(), String> {
    let plain = |word: &Word| !word.prefix().is_empty() && !word.prefix().starts_with('-') && !word.is_many();
    match options.rest {
        [] => Ok(()),
        [only] if plain(only) => Ok(()),
        [first, ..] if !plain(first) => Err(not_known(wrapper.name, first)),
        [_, second, ..] => Err(format!(
            "\"{}\" comes after the operand of \"{}\", where it may be an option or go to a shell; put options first",
            second.raw, wrapper.name
        )),
        [only] => Err(not_known(wrapper.name, only)),
    }
}
