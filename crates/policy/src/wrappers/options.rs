//! Options that come before the command of a wrapper.

use super::table::Wrapper;
use crate::script::Word;

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
        Some(value) => {
            take_value(*letter, &Word::known(value), options);
            Ok(())
        }
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
            take_value(letter, &Word::known(attached), options);
            return Ok(());
        } else if wrapper.valued.contains(letter) {
            if attached.is_empty() {
                return next_value(wrapper, word, letter, options);
            }
            take_value(letter, &Word::known(attached), options);
            return Ok(());
        } else {
            return Err(not_known(wrapper.name, word));
        }
    }
    if cluster.is_empty() { Err(not_known(wrapper.name, word)) } else { Ok(()) }
}

fn next_value(wrapper: &Wrapper, word: &Word, letter: char, options: &mut Options<'_>) -> Result<(), String> {
    match options.rest.split_first() {
        Some((value, after)) if !value.is_many() => {
            take_value(letter, value, options);
            options.rest = after;
            Ok(())
        }
        _ => Err(not_known(wrapper.name, word)),
    }
}

fn take_value(letter: char, value: &Word, options: &mut Options<'_>) {
    options.seen.push(letter);
    match letter {
        MARKER | 'i' => {
            let given = value.text().filter(|text| !text.is_empty()).unwrap_or("{}");
            options.marker = Some(given.to_owned());
        }
        'u' => options.unset.push(value.shown()),
        'c' => options.line = vec![value.clone()],
        _ => {}
    }
}
