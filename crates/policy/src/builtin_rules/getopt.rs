//! Options of a builtin, read as bash reads them: they end at `--` or at the first word that is none, letters may be
//! joined, and a value may be attached to its letter.

use super::unknown_argument;
use crate::facts::Word;

/// What a builtin was given.
pub(super) struct Parsed<'a> {
    /// Each option with its value, in their order.
    pub(super) options: Vec<(char, Option<Word>)>,
    /// The words after the options.
    pub(super) operands: &'a [Word],
}

/// Which options a builtin has.
#[derive(Clone, Copy)]
pub(super) struct Letters {
    /// Those without a value.
    pub(super) flags: &'static str,
    /// Those with one.
    pub(super) valued: &'static str,
    /// Whether `+x` takes back what `-x` says.
    pub(super) plus: bool,
}

/// Reads options. One that is not listed is refused, and so is a word that may turn out to be one.
pub(super) fn read<'a>(name: &str, letters: Letters, args: &'a [Word]) -> Result<Parsed<'a>, String> {
    let mut given = Parsed { options: Vec::new(), operands: args };
    while let Some((first, after)) = given.operands.split_first() {
        if !may_be_option(first, letters) {
            // Should it vanish, options could follow.
            let hides = first.is_many() && after.iter().any(|word| may_be_option(word, letters));
            if hides {
                return Err(unknown_argument(name, first));
            }
            break;
        }
        let text = first.text().ok_or_else(|| unknown_argument(name, first))?;
        given.operands = after;
        if text == "--" {
            break;
        }
        cluster(name, letters, first, text, &mut given)?;
    }
    Ok(given)
}

/// Whether a word is an option, or may be one once it is known.
fn may_be_option(word: &Word, letters: Letters) -> bool {
    let signs: &[char] = if letters.plus { &['-', '+'] } else { &['-'] };
    match word.text() {
        Some(text) => text.len() > 1 && text.starts_with(signs),
        // No builtin has a digit for an option; where one were read, bash would refuse it.
        None if word.is_number() => false,
        None => word.prefix().is_empty() || word.prefix().starts_with(signs),
    }
}

fn cluster(
    name: &str,
    letters: Letters,
    word: &Word,
    text: &str,
    given: &mut Parsed<'_>,
) -> Result<(), String> {
    for (at, letter) in text.char_indices().skip(1) {
        if letters.flags.contains(letter) {
            given.options.push((letter, None));
        } else if letters.valued.contains(letter) && !text.starts_with('+') {
            let attached = text.get(at + letter.len_utf8()..).unwrap_or_default();
            let value = if attached.is_empty() { next(name, word, given)? } else { Word::known(attached) };
            given.options.push((letter, Some(value)));
            return Ok(());
        } else {
            return Err(not_read(name, word));
        }
    }
    Ok(())
}

/// The word behind an option, as its value.
fn next(name: &str, word: &Word, given: &mut Parsed<'_>) -> Result<Word, String> {
    let (value, after) = given.operands.split_first().ok_or_else(|| not_read(name, word))?;
    if value.is_many() {
        return Err(unknown_argument(name, value));
    }
    given.operands = after;
    Ok(value.clone())
}

/// The sentence for an option that this reader does not know.
pub(super) fn not_read(name: &str, word: &Word) -> String {
    format!("the option \"{}\" of \"{name}\" is not read", word.raw)
}
