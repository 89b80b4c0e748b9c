//! Handlers of signals: text that bash reads as a script when the time comes.

use runward_script::{Argument, Dialect, List, Part, Simple, Word};

/// Words in front of `trap` that leave it what it is.
const BEFORE: [&str; 3] = ["command", "builtin", "--"];

/// What `trap` is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::facts) enum Trap<'a> {
    /// Nothing that runs.
    Nothing,
    /// The word at this place as a handler.
    Handler {
        /// Where it stands among the words.
        at: usize,
        /// What it says.
        text: &'a str,
        /// Whether it only runs when its shell is done.
        at_exit: bool,
    },
}

/// What `trap` is given where these words, as far as they are known, are such a command; an error is a sentence.
pub(in crate::facts) fn trap<'a>(
    words: &[Option<&'a str>],
    shown: impl Fn(usize) -> String,
) -> Option<Result<Trap<'a>, String>> {
    let before = words.iter().take_while(|word| word.is_some_and(|word| BEFORE.contains(&word))).count();
    (words.get(before) == Some(&Some("trap"))).then_some(())?;
    let mut first = before + 1;
    match words.get(first).copied().flatten() {
        Some("--") => first += 1,
        Some("-l" | "-p") => return Some(Ok(Trap::Nothing)),
        Some(text) if text.len() > 1 && text.starts_with('-') => {
            return Some(Err(format!("the option \"{text}\" of \"trap\" is not read")));
        }
        _ => {}
    }
    if let Some(at) = (first..words.len()).find(|at| words.get(*at) == Some(&None)) {
        return Some(Err(format!(
            "\"{}\" as an argument of \"trap\" cannot be judged before it runs; put the handler in single quotes",
            shown(at)
        )));
    }
    let text = match words.get(first).copied().flatten() {
        None | Some("" | "-") => return Some(Ok(Trap::Nothing)),
        Some(text) => text,
    };
    let signals = words.get(first + 1..).unwrap_or_default();
    // With nothing behind it, it is a signal to be reset.
    if signals.is_empty() {
        return Some(Ok(Trap::Nothing));
    }
    let at_exit = signals.iter().all(|signal| matches!(signal, Some("EXIT" | "0")));
    Some(Ok(Trap::Handler { at: first, text, at_exit }))
}

/// What a handler runs.
pub(in crate::facts) fn read(text: &str) -> Result<List, String> {
    let script = runward_script::read(text);
    script
        .map(|script| script.list)
        .map_err(|why| format!("the handler of \"trap\" cannot be judged: {}", why.0))
}

/// Puts a handler that can be read in the words of the writer, as everything else is.
pub(super) fn write_anew(simple: &mut Simple) {
    let words: Vec<Option<&str>> = simple.words.iter().map(super::text).collect();
    let Some(Ok(Trap::Handler { at, text, .. })) = trap(&words, |_| String::new()) else { return };
    let written =
        read(text).ok().and_then(|list| runward_script::Script { list }.written(Dialect::Bash).ok());
    let (Some(written), Some(Argument::Word(Word { parts, .. }))) = (written, simple.words.get_mut(at))
    else {
        return;
    };
    *parts = vec![Part::Literal(written)];
}
