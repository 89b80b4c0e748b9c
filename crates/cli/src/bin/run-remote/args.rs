//! The command line. Read by hand: it is short, and starting has to be quick.

use std::ffi::OsString;
use std::time::Duration;

use crate::exit::Failure;

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Help,
    Version,
    Command(Args),
}

/// A command, and how it is to run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Args {
    /// The names of the variables to send.
    pub(crate) keep_env: Vec<String>,
    /// Whether input is forwarded even from a terminal.
    pub(crate) interactive: bool,
    /// Whether it runs on a terminal.
    pub(crate) tty: bool,
    pub(crate) timeout: Option<Duration>,
    pub(crate) cwd: Option<String>,
    /// The name of a workspace to share.
    pub(crate) workspace: Option<String>,
    /// Whether it is only judged.
    pub(crate) check: bool,
    pub(crate) program: String,
    /// Its arguments.
    pub(crate) words: Vec<String>,
}

/// Reads the words after the program's own name.
pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> Result<Wanted, Failure> {
    let mut words = words.map(text);
    let mut args = Args::default();
    while let Some(word) = words.next().transpose()? {
        match word.as_str() {
            "--" => return command(args, words),
            "-h" | "--help" => return Ok(Wanted::Help),
            "-V" | "--version" => return Ok(Wanted::Version),
            "--check" => args.check = true,
            long if long.starts_with("--") => option(&mut args, long, &mut words)?,
            short if short.starts_with('-') && short.len() > 1 => switches(&mut args, short)?,
            other => return Err(no_dashes(other)),
        }
    }
    Err(Failure::usage("which command? put it behind --, as in: run-remote -- ls -l"))
}

fn command(
    mut args: Args,
    mut words: impl Iterator<Item = Result<String, Failure>>,
) -> Result<Wanted, Failure> {
    let program = words.next().transpose()?.filter(|program| !program.is_empty());
    args.program = program
        .ok_or_else(|| Failure::usage("which command? name it after --, as in: run-remote -- ls -l"))?;
    args.words = words.collect::<Result<_, _>>()?;
    Ok(Wanted::Command(args))
}

/// An option with a value, in either spelling.
fn option(
    args: &mut Args,
    word: &str,
    words: &mut impl Iterator<Item = Result<String, Failure>>,
) -> Result<(), Failure> {
    let (name, value) =
        word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value.to_owned())));
    if !["--keep-env", "--timeout", "--workspace", "--cwd"].contains(&name) {
        return Err(Failure::usage(format!("there is no option {name}; run-remote --help lists them all")));
    }
    let value = match value {
        Some(value) => Some(value),
        None => words.next().transpose()?.filter(|value| value != "--"),
    };
    let value = value.filter(|value| !value.is_empty());
    let value =
        value.ok_or_else(|| Failure::usage(format!("{name} needs a value, as in: {}", example(name))))?;
    match name {
        "--keep-env" => args.keep_env.extend(names(&value)?),
        "--timeout" => args.timeout = Some(duration(&value)?),
        "--workspace" => args.workspace = Some(value),
        _ => args.cwd = Some(value),
    }
    Ok(())
}

fn example(name: &str) -> &'static str {
    match name {
        "--keep-env" => "--keep-env LANG,TERM",
        "--timeout" => "--timeout 90s",
        "--workspace" => "--workspace build-7f3c9d2e1a4b8c6d5e0f",
        _ => "--cwd /tmp",
    }
}

fn switches(args: &mut Args, word: &str) -> Result<(), Failure> {
    for letter in word.chars().skip(1) {
        match letter {
            'i' => args.interactive = true,
            't' => args.tty = true,
            other => {
                let what = format!("there is no option -{other}; run-remote --help lists them all");
                return Err(Failure::usage(what));
            }
        }
    }
    Ok(())
}

fn names(list: &str) -> Result<Vec<String>, Failure> {
    let name = |name: &str| {
        if name.is_empty() || name.contains('=') {
            let what = format!("--keep-env takes names of variables, as in LANG,TERM; {name:?} is none");
            return Err(Failure::usage(what));
        }
        Ok(name.to_owned())
    };
    list.split(',').map(name).collect()
}

/// A whole number and a unit; seconds without one.
fn duration(text: &str) -> Result<Duration, Failure> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(digits.len()..).unwrap_or_default();
    let factor = match unit {
        "ms" => Some(1),
        "" | "s" => Some(1000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let milliseconds = factor.and_then(|factor: u64| digits.parse::<u64>().ok()?.checked_mul(factor));
    let milliseconds = milliseconds.filter(|milliseconds| *milliseconds > 0);
    let wrong =
        || Failure::usage(format!("--timeout takes a time such as 500ms, 90s, 5m or 1h, not {text:?}"));
    milliseconds.map(Duration::from_millis).ok_or_else(wrong)
}

fn no_dashes(word: &str) -> Failure {
    Failure::usage(format!("put -- before the command, as in: run-remote -- {word}"))
}

fn text(word: OsString) -> Result<String, Failure> {
    word.into_string().map_err(|word| {
        Failure::usage(format!("{} is not UTF-8, and only text can be sent", word.to_string_lossy()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Wanted, String> {
        parse(line.split_whitespace().map(OsString::from)).map_err(|failure| failure.message)
    }

    fn args(line: &str) -> Args {
        match parsed(line) {
            Ok(Wanted::Command(args)) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_follows_the_dashes_is_the_command_whatever_it_looks_like() {
        let args = args("-- ls --keep-env -- -t");
        assert_eq!((args.program.as_str(), args.keep_env.len(), args.tty), ("ls", 0, false));
        assert_eq!(args.words, ["--keep-env", "--", "-t"]);
    }

    #[test]
    fn values_are_given_in_either_spelling_and_as_often_as_one_likes() {
        let args = args("--keep-env A,B --keep-env=C --timeout=1m --cwd /x -it --check -- p");
        assert_eq!(args.keep_env, ["A", "B", "C"]);
        assert_eq!((args.timeout, args.cwd.as_deref()), (Some(Duration::from_mins(1)), Some("/x")));
        assert!(args.interactive && args.tty && args.check);
    }

    #[test]
    fn times_have_units_and_are_seconds_without_one() {
        for (text, milliseconds) in
            [("5", 5000), ("5s", 5000), ("50ms", 50), ("2m", 120_000), ("1h", 3_600_000)]
        {
            assert_eq!(duration(text).unwrap().as_millis(), milliseconds, "{text}");
        }
        for text in ["", "s", "0", "-1", "1.5s", "5d", "99999999999999999999"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_wrong_line_says_what_would_be_right() {
        let cases = [
            ("", "which command? put it behind --, as in: run-remote -- ls -l"),
            ("--", "which command? name it after --, as in: run-remote -- ls -l"),
            ("ls -l", "put -- before the command, as in: run-remote -- ls"),
            ("--keep-end A -- ls", "there is no option --keep-end; run-remote --help lists them all"),
            ("--keep-env -- ls", "--keep-env needs a value, as in: --keep-env LANG,TERM"),
            ("--keep-env= -- ls", "--keep-env needs a value, as in: --keep-env LANG,TERM"),
            ("--keep-env A,,B -- ls", "--keep-env takes names of variables, as in LANG,TERM; \"\" is none"),
            ("-x -- ls", "there is no option -x; run-remote --help lists them all"),
            ("--timeout soon -- ls", "--timeout takes a time such as 500ms, 90s, 5m or 1h, not \"soon\""),
        ];
        for (line, message) in cases {
            assert_eq!(parsed(line), Err(message.to_owned()), "{line}");
        }
    }
}
