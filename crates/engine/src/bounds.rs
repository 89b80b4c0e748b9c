//! What can be given to a process at all: more than this is refused before anybody reads it.

use std::path::Path;

use runward_model::{Argv, Refusal, Request, Script, Work};

/// The most arguments, and the most variables, of one command.
const MOST: usize = 4096;

/// Linux takes no string of 128 KiB or more, its NUL included, whatever room there is (`MAX_ARG_STRLEN`).
pub(crate) const LONGEST: usize = 128 * 1024 - 1;

/// Nor a path of 4 KiB (`PATH_MAX`).
const LONGEST_PATH: usize = 4095;

/// What is longer than this takes a while to read and to judge.
const LARGE: usize = 64 * 1024;

/// Whether it takes a while to read and to judge, and so is done beside the runtime.
pub(crate) fn is_large(request: &Request) -> bool {
    let work = match &request.work {
        Work::Line(line) | Work::Script(Script { source: line, .. }) => line.len(),
        Work::Argv(Argv { file, args }) => file.len() + args.iter().map(|arg| arg.len() + 1).sum::<usize>(),
    };
    let env = request.env.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    work + env > LARGE
}

/// Whether a program and its arguments can be given.
pub(crate) fn of_argv(Argv { file, args }: &Argv) -> Result<(), Refusal> {
    at_most("the program's path", file.len(), LONGEST_PATH)?;
    count("arguments", args.len())?;
    let long = args.iter().position(|arg| arg.len() > LONGEST);
    long.map_or(Ok(()), |at| at_most(&format!("argument {}", at + 1), args[at].len(), LONGEST))
}

/// Whether a directory and a caller's variables can be given.
pub(crate) fn of_surroundings(cwd: Option<&Path>, env: &[(String, String)]) -> Result<(), Refusal> {
    at_most("cwd", cwd.map_or(0, |cwd| cwd.as_os_str().len()), LONGEST_PATH)?;
    count("variables", env.len())?;
    for (at, (name, value)) in env.iter().enumerate() {
        // The name may itself be what is too long to be shown.
        at_most(&format!("variable {}", at + 1), name.len() + "=".len() + value.len(), LONGEST)?;
    }
    Ok(())
}

fn count(what: &str, count: usize) -> Result<(), Refusal> {
    if count <= MOST {
        return Ok(());
    }
    Err(Refusal::TooLarge(format!("there are {count} {what} and at most {MOST} can be given")))
}

fn at_most(what: &str, length: usize, most: usize) -> Result<(), Refusal> {
    if length <= most {
        return Ok(());
    }
    let advice = if most == LONGEST { "; pass long text as input, or in a file" } else { "" };
    Err(Refusal::TooLarge(format!("{what} has {length} bytes and at most {most} can be given{advice}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(file: usize, args: &[usize]) -> Result<(), Refusal> {
        let args = args.iter().map(|length| "x".repeat(*length)).collect();
        of_argv(&Argv { file: "x".repeat(file), args })
    }

    #[test]
    fn what_a_process_can_be_given_is_let_through() {
        assert_eq!(argv(4095, &[LONGEST, 0]), Ok(()));
        assert_eq!(argv(1, &vec![1; MOST]), Ok(()));
        let env = [("A".to_owned(), "x".repeat(LONGEST - 2))];
        assert_eq!(of_surroundings(Some(Path::new("/tmp")), &env), Ok(()));
    }

    #[test]
    fn what_is_too_large_is_named_with_its_size_and_the_bound() {
        let told = |result: Result<(), Refusal>| result.unwrap_err().to_string();
        assert_eq!(
            told(argv(1, &[1, LONGEST + 1])),
            "argument 2 has 131072 bytes and at most 131071 can be given; pass long text as input, or in a file; nothing was run"
        );
        assert!(told(argv(4096, &[])).starts_with("the program's path has 4096 bytes and at most 4095"));
        assert!(told(argv(1, &vec![0; 4097])).starts_with("there are 4097 arguments and at most 4096"));
        let env = [("A".to_owned(), "x".repeat(LONGEST - 1))];
        assert!(told(of_surroundings(None, &env)).starts_with("variable 1 has 131072 bytes"));
        let long = "x".repeat(4096);
        assert!(told(of_surroundings(Some(Path::new(&long)), &[])).starts_with("cwd has 4096 bytes"));
    }
}
