//! What bash's own commands may be given.

use crate::builtins::is_identifier;
use crate::script::Word;

/// What a builtin does beyond printing.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// Variables that it gives a value, or takes it from.
    pub(crate) assigned: Vec<(String, bool)>,
}

/// Builtins that run, define or load what no reader can see.
const REFUSED: &[&str] = &[
    ".", "alias", "bind", "compgen", "complete", "compopt", "enable", "eval", "fc", "hash", "history", "let",
    "source", "suspend", "trap", "unalias",
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
    let known = || {
        args.iter()
            .map(|arg| arg.text().ok_or_else(|| unknown_argument(name, arg)))
            .collect::<Result<Vec<_>, _>>()
    };
    match name {
        "declare" | "export" | "local" | "readonly" | "typeset" => declared(name, args, command),
        "getopts" => assigns(known()?.get(1).into_iter().copied().chain(["OPTARG"])),
        "mapfile" | "readarray" => options_then_names(name, &known()?, "t", "dnOsu", "MAPFILE"),
        "read" => options_then_names(name, &known()?, "ers", "dinNptu", "REPLY"),
        "printf" => printf(args),
        "set" => set(args),
        "shopt" => shopt(&known()?),
        "test" | "[" => test(name, args),
        "unset" => options_then_names(name, &known()?, "vf", "", "_"),
        // `wait -p` sets a variable and `jobs -x` runs a command.
        "jobs" | "wait" => match known()?.iter().find(|arg| arg.contains(['p', 'x'])) {
            None => Ok(Effects::default()),
            Some(odd) => Err(format!("the option \"{odd}\" of \"{name}\" is not read")),
        },
        _ => Err(format!("the builtin \"{name}\" is not known")),
    }
}

fn unknown_argument(name: &str, arg: &Word) -> String {
    format!("\"{}\" as an argument of \"{name}\" cannot be judged before it runs", arg.raw)
}

fn assigns<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Effects, String> {
    let mut assigned = Vec::new();
    for name in names {
        if !is_identifier(name) {
            return Err(format!("\"{name}\" is not a plain variable name"));
        }
        assigned.push((name.to_owned(), false));
    }
    Ok(Effects { assigned })
}

/// A builtin that takes options and then the names of variables, or else uses a variable of its own.
fn options_then_names(
    name: &str,
    args: &[&str],
    flags: &str,
    valued: &str,
    otherwise: &str,
) -> Result<Effects, String> {
    let mut rest = args.iter();
    let mut names = Vec::new();
    while let Some(arg) = rest.next() {
        let Some(cluster) = arg.strip_prefix('-').filter(|cluster| !cluster.is_empty() && *cluster != "-")
        else {
            names.extend((*arg != "--").then_some(*arg));
            continue;
        };
        let value_at = cluster.find(|c| !flags.contains(c));
        match value_at.and_then(|at| cluster.get(at..)) {
            None => {}
            Some("a") if name == "read" => names.extend(rest.next().copied()),
            Some(option) if option.chars().next().is_some_and(|c| valued.contains(c)) => {
                // A value that is not attached is the next argument.
                let apart = usize::from(option.len() == 1);
                rest.by_ref().take(apart).for_each(drop);
            }
            Some(_) => return Err(format!("the option \"{arg}\" of \"{name}\" is not read")),
        }
    }
    assigns(if names.is_empty() { vec![otherwise] } else { names })
}

/// `export NAME=value` and its relatives. Attributes that make bash evaluate values are refused.
fn declared(name: &str, args: &[Word], command: &Word) -> Result<Effects, String> {
    let mut assigned = Vec::new();
    for arg in args {
        if let Some(option) = arg.text().and_then(|text| text.strip_prefix(['-', '+'])) {
            if !option.chars().all(|c| "gprx-".contains(c)) {
                return Err(format!("the option \"{}\" of \"{name}\" is not read", arg.raw));
            }
            continue;
        }
        let (variable, value) = match arg.prefix().split_once('=') {
            Some((variable, value)) => (variable.strip_suffix('+').unwrap_or(variable), Some(value)),
            None => (arg.text().ok_or_else(|| unknown_argument(name, arg))?, None),
        };
        // Where the variable is an array, bash reads a value in parentheses as elements and expands them again.
        let evaluates = matches!(name, "declare" | "local" | "typeset");
        let could_be_elements = value.is_some_and(|value| {
            value.starts_with('(') || evaluates && value.is_empty() && arg.text().is_none()
        });
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
        let number = arg.text().is_some() && value.is_some_and(|value| Word::known(value).is_number());
        assigned.push((variable.to_owned(), number));
    }
    Ok(Effects { assigned })
}

fn printf(args: &[Word]) -> Result<Effects, String> {
    let first = args.first().map(Word::prefix).unwrap_or_default();
    let (target, format) = match first {
        "-v" => (args.get(1), args.get(2)),
        "--" => (None, args.get(1)),
        _ => (None, args.first()),
    };
    let format_text = format.and_then(Word::text);
    let Some(format_text) = format_text else {
        return match format {
            None if target.is_none() => Ok(Effects::default()),
            _ => Err("the format of \"printf\" has to be written out".into()),
        };
    };
    if format_text.starts_with('-') && format_text != "-" && first != "--" && target.is_none()
        || stores_a_count(format_text)
    {
        return Err(format!("the format \"{format_text}\" of \"printf\" sets a variable or is no format"));
    }
    assigns(target.map(|word| word.text().unwrap_or(&word.raw)))
}

/// Whether a format holds `%n`, which assigns to a variable.
fn stores_a_count(format: &str) -> bool {
    let literal = format.replace("%%", "");
    let mut pieces = literal.split('%');
    pieces.next();
    pieces.any(|piece| {
        piece.trim_start_matches(|c: char| "-+ #'.*hlLjztq0123456789".contains(c)).starts_with('n')
    })
}

fn set(args: &[Word]) -> Result<Effects, String> {
    const OPTIONS: &[&str] = &["errexit", "noclobber", "noglob", "nounset", "pipefail", "verbose", "xtrace"];
    let mut names_option = false;
    for arg in args {
        if std::mem::take(&mut names_option) {
            if !arg.text().is_some_and(|text| OPTIONS.contains(&text)) {
                return Err(format!("the option \"{}\" of \"set\" is not read", arg.raw));
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
            return Err(format!("the option \"{}\" of \"set\" is not read", arg.raw));
        }
        names_option = letters.ends_with('o');
        if letters.matches('o').count() > usize::from(names_option) {
            return Err(format!("the option \"{}\" of \"set\" is not read", arg.raw));
        }
    }
    Ok(Effects::default())
}

fn shopt(args: &[&str]) -> Result<Effects, String> {
    const OPTIONS: &[&str] =
        &["-s", "-u", "-q", "-p", "dotglob", "failglob", "globstar", "nocaseglob", "nocasematch", "nullglob"];
    match args.iter().find(|arg| !OPTIONS.contains(*arg)) {
        None => Ok(Effects::default()),
        Some(odd) => Err(format!("\"shopt {odd}\" changes how bash reads a script and is not read")),
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
        let harmless =
            tested.is_none_or(|word| word.is_number() || word.text().is_some_and(|text| !text.contains('[')));
        if may_test && !harmless {
            return Err(unknown_argument(name, tested.unwrap_or(arg)));
        }
    }
    Ok(Effects::default())
}

fn unquoted(arg: &Word) -> String {
    format!("\"{}\" may become several words", arg.raw)
}
