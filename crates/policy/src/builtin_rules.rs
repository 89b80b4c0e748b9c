//! What bash's own commands may be given.

mod getopt;
#[cfg(test)]
mod tests;

use crate::facts::Word;
use crate::variables::is_tame_locale;
use getopt::{Letters, not_read};
use runward_script::is_identifier;

/// What a builtin does beyond printing.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// Variables that it declares, gives a value, or takes it from.
    pub(crate) assigned: Vec<(String, Change)>,
}

/// What becomes of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It keeps its value.
    Kept,
    /// It is a plain integer.
    Number,
    /// It may be anything.
    Text,
}

/// Builtins that run, define or load what no reader can see.
const REFUSED: &[&str] = &[
    ".", "alias", "bind", "compgen", "complete", "compopt", "enable", "eval", "fc", "history", "let",
    "source", "suspend", "unalias",
];

/// Builtins whose arguments cannot make them run or set anything.
const HARMLESS: &[&str] = &[
    ":", "bg", "break", "caller", "cd", "continue", "dirs", "disown", "echo", "exit", "false", "fg", "help",
    "kill", "logout", "popd", "pushd", "pwd", "return", "shift", "times", "true", "type", "ulimit", "umask",
];

/// What a builtin with these arguments does, or why that cannot be known. Wrappers are looked into elsewhere.
pub(crate) fn effects(command: &Word, args: &[Word]) -> Result<Effects, String> {
    let Some(name) = command.text() else { return Ok(Effects::default()) };
    if REFUSED.contains(&name) {
        return Err(format!("\"{name}\" runs what cannot be judged before it runs"));
    }
    if HARMLESS.contains(&name) || matches!(name, "builtin" | "command" | "exec") {
        return Ok(Effects::default());
    }
    match name {
        "declare" | "local" | "typeset" => declared(name, letters("gprx", "", true), args, command),
        "export" => declared(name, letters("np", "", false), args, command),
        "readonly" => declared(name, letters("p", "", false), args, command),
        "getopts" => getopts(args),
        "mapfile" | "readarray" => fills(name, letters("t", "dnOsu", false), args, "MAPFILE"),
        // With `-e` a terminal's keys expand and run what was typed.
        "read" => fills(name, letters("rs", "adinNptu", false), args, "REPLY"),
        // `hash -p` makes a name stand for any file.
        "hash" => getopt::read(name, letters("dlrt", "", false), args).map(|_| Effects::default()),
        // What it is given as a handler is judged as a script: see `facts/handler.rs`.
        "trap" => Ok(Effects::default()),
        "printf" => printf(args),
        "set" => set(args),
        "shopt" => shopt(args),
        "test" | "[" => test(name, args),
        "unset" => {
            let given = getopt::read(name, letters("fnv", "", false), args)?;
            assigns(name, given.operands)
        }
        // `jobs -x` runs a command and is not read.
        "jobs" => getopt::read(name, letters("lnprs", "", false), args).map(|_| Effects::default()),
        "wait" => {
            let given = getopt::read(name, letters("fn", "p", false), args)?;
            assigns(name, given.options.iter().filter_map(|(_, value)| value.as_ref()))
        }
        _ => Err(format!("the builtin \"{name}\" is not known")),
    }
}

/// Whether `kill` with these words only ends jobs that the script started: `%1`, `$!`.
pub(crate) fn kills_own_jobs(args: &[Word]) -> bool {
    let is_signal = |text: &str| {
        let name = text.strip_prefix("SIG").unwrap_or(text);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    let text = |at: usize| args.get(at).and_then(Word::text);
    // A second word of that form would be a group of processes.
    let skipped = match text(0) {
        Some("-s" | "-n") if text(1).is_some_and(is_signal) => 2,
        Some(first) if first.strip_prefix('-').is_some_and(is_signal) => 1,
        _ => 0,
    };
    let is_own = |word: &Word| match word.text() {
        Some(text) => text.starts_with('%') && text.len() > 1,
        None => matches!(word.raw.as_str(), "$!" | "\"$!\"" | "${!}" | "\"${!}\""),
    };
    let jobs = args.get(skipped..).unwrap_or_default();
    !jobs.is_empty() && jobs.iter().all(is_own)
}

fn letters(flags: &'static str, valued: &'static str, plus: bool) -> Letters {
    Letters { flags, valued, plus }
}

fn unknown_argument(name: &str, arg: &Word) -> String {
    format!("\"{}\" as an argument of \"{name}\" cannot be judged before it runs", arg.raw)
}

/// Words that name variables. One that may become several words could name others.
fn assigns<'a>(builtin: &str, names: impl IntoIterator<Item = &'a Word>) -> Result<Effects, String> {
    let mut assigned = Vec::new();
    for word in names {
        let name = word.text().ok_or_else(|| unknown_argument(builtin, word))?;
        if !is_identifier(name) {
            return Err(format!("\"{name}\" is not a plain variable name"));
        }
        if builtin != "unset" {
            tame(name, None)?;
        }
        assigned.push((name.to_owned(), Change::Text));
    }
    Ok(Effects { assigned })
}

/// Refuses a character set in which scripts could be read in another way.
fn tame(name: &str, value: Option<&str>) -> Result<(), String> {
    let why = || format!("the variable \"{name}\" may only be C, POSIX or a locale in UTF-8; write that out");
    is_tame_locale(name, value).then_some(()).ok_or_else(why)
}

/// `getopts letters name [words]`. Bash sets the name, and keeps the value of an option.
fn getopts(args: &[Word]) -> Result<Effects, String> {
    let given = getopt::read("getopts", letters("", "", false), args)?;
    // Letters that may become several words would move the name.
    if let Some(wide) = given.operands.first().filter(|word| word.is_many()) {
        return Err(unknown_argument("getopts", wide));
    }
    let own = Word::known("OPTARG");
    assigns("getopts", given.operands.get(1).into_iter().chain([&own]))
}

/// A builtin that takes options and then the names of variables, or else uses a variable of its own.
fn fills(name: &str, letters: Letters, args: &[Word], otherwise: &str) -> Result<Effects, String> {
    let given = getopt::read(name, letters, args)?;
    let arrays = given.options.iter().filter(|(letter, _)| *letter == 'a');
    let named: Vec<&Word> =
        given.operands.iter().chain(arrays.filter_map(|(_, value)| value.as_ref())).collect();
    let own = Word::known(otherwise);
    if named.is_empty() { assigns(name, [&own]) } else { assigns(name, named) }
}

/// `export NAME=value` and its relatives. Attributes that make bash evaluate values are refused.
fn declared(name: &str, letters: Letters, args: &[Word], command: &Word) -> Result<Effects, String> {
    let mut assigned = Vec::new();
    for arg in getopt::read(name, letters, args)?.operands {
        let (variable, value) = match arg.prefix().split_once('=') {
            Some((variable, value)) => (variable.strip_suffix('+').unwrap_or(variable), Some(value)),
            None => (arg.text().ok_or_else(|| unknown_argument(name, arg))?, None),
        };
        // Where the variable is an array, bash reads a value in parentheses as elements and expands them again.
        let evaluates = matches!(name, "declare" | "local" | "typeset");
        let could_be_elements = value.is_some_and(|value| {
            value.starts_with('(') || evaluates && value.is_empty() && arg.text().is_none()
        });
        let could_be_elements = could_be_elements && !arg.stays_text;
        if could_be_elements {
            return Err(format!(
                "the value in \"{}\" could be evaluated by \"{name}\"; assign it without \"{name}\"",
                arg.raw
            ));
        }
        // Bash leaves an assignment whole only where both the builtin and the name are written plainly; any other
        // word that splits could name further variables.
        let whole = command.raw == name && arg.raw.starts_with(&format!("{variable}="));
        if !is_identifier(variable) || arg.is_many() && !whole {
            return Err(unknown_argument(name, arg));
        }
        let whole_value = value.filter(|_| arg.text().is_some());
        // Without a value it keeps the one that it has.
        if value.is_some() {
            tame(variable, whole_value)?;
        }
        let change = match (value, whole_value) {
            (None, _) => Change::Kept,
            (_, Some(value)) if Word::known(value).is_number() => Change::Number,
            _ => Change::Text,
        };
        assigned.push((variable.to_owned(), change));
    }
    Ok(Effects { assigned })
}

/// `printf [-v name] format [words]`; of several names the last counts, and all are taken for set.
fn printf(args: &[Word]) -> Result<Effects, String> {
    let given = getopt::read("printf", letters("", "v", false), args)?;
    let targets = assigns("printf", given.options.iter().filter_map(|(_, value)| value.as_ref()))?;
    let Some(format) = given.operands.first() else { return Ok(targets) };
    let Some(text) = format.text() else {
        return Err("the format of \"printf\" has to be written out".into());
    };
    if sets_by_format(text) {
        return Err(format!("the format \"{text}\" of \"printf\" sets a variable or is no format"));
    }
    Ok(targets)
}

/// Whether a format holds `%n`, which assigns to a variable, or a conversion that is none.
fn sets_by_format(format: &str) -> bool {
    let mut rest = format;
    while let Some((_, after)) = rest.split_once('%') {
        if let Some(literal) = after.strip_prefix('%') {
            rest = literal;
            continue;
        }
        let modifiers = |c: char| "-+ #'.*hlLjztq0123456789".contains(c);
        rest = after.trim_start_matches(modifiers);
        if rest.starts_with(['n', '%']) {
            return true;
        }
    }
    false
}

fn set(args: &[Word]) -> Result<Effects, String> {
    const OPTIONS: &[&str] = &["errexit", "noclobber", "noglob", "nounset", "pipefail", "verbose", "xtrace"];
    let mut names_option = false;
    for arg in args {
        if std::mem::take(&mut names_option) {
            if !arg.text().is_some_and(|text| OPTIONS.contains(&text)) {
                return Err(not_read("set", arg));
            }
            continue;
        }
        if arg.text() == Some("--") {
            break;
        }
        let Some(letters) = arg.prefix().strip_prefix(['-', '+']) else {
            if arg.prefix().is_empty() || arg.is_many() {
                return Err(unknown_argument("set", arg));
            }
            break;
        };
        if arg.text().is_none() || !letters.chars().all(|c| "efuvxCo".contains(c)) {
            return Err(not_read("set", arg));
        }
        names_option = letters.ends_with('o');
        if letters.matches('o').count() > usize::from(names_option) {
            return Err(not_read("set", arg));
        }
    }
    Ok(Effects::default())
}

fn shopt(args: &[Word]) -> Result<Effects, String> {
    const OPTIONS: &[&str] = &["dotglob", "failglob", "globstar", "nocaseglob", "nocasematch", "nullglob"];
    let given = getopt::read("shopt", letters("psuq", "", false), args)?;
    match given.operands.iter().find(|word| !word.text().is_some_and(|text| OPTIONS.contains(&text))) {
        None => Ok(Effects::default()),
        Some(odd) => Err(format!("\"shopt {}\" changes how bash reads a script and is not read", odd.raw)),
    }
}

/// `-v` and `-R` expand the subscript of the name that they are given.
fn test(name: &str, args: &[Word]) -> Result<Effects, String> {
    for (index, arg) in args.iter().enumerate() {
        let may_test = match arg.text() {
            Some(text) => matches!(text, "-v" | "-R"),
            None if arg.is_number() => false,
            None if arg.is_many() => return Err(format!("{} in \"{name}\"; quote it", unquoted(arg))),
            None => arg.prefix().is_empty() || arg.prefix().starts_with('-'),
        };
        let tested = args.get(index + 1);
        let harmless = tested.is_none_or(|word| {
            word.is_number() && !word.is_many() || word.text().is_some_and(|text| !text.contains('['))
        });
        if may_test && !harmless {
            return Err(unknown_argument(name, tested.unwrap_or(arg)));
        }
    }
    Ok(Effects::default())
}

fn unquoted(arg: &Word) -> String {
    format!("\"{}\" may become several words", arg.raw)
}
