//! Which shell runs a script: bash, by whose grammar it was judged, else sh where both read it alike.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use runward_login::Snapshot;
use runward_model::{Argv, Refusal, Script, Work};
use runward_policy::{Dialect, Reading, SearchPath};

/// What bash and other shells take for different things, wherever it stands: what is harmless to one may be a command
/// to the other.
const DIFFERENT: [&str; 13] =
    ["$'", "$\"", "${", "$[", "[[", "((", "<(", ">(", "<<<", "&>", "|&", ";&", "+="];

/// Words that bash keeps for itself and that elsewhere name a program that nobody judged.
const BASH_WORDS: [&str; 26] = [
    "bind",
    "builtin",
    "caller",
    "compgen",
    "complete",
    "compopt",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "enable",
    "function",
    "help",
    "history",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "readarray",
    "select",
    "shopt",
    "source",
    "suspend",
    "typeset",
];

/// The shells that a caller may choose.
const SHELLS: [&str; 4] = ["bash", "zsh", "sh", "fish"];

/// Where the system lists its shells.
const LIST: &str = "/etc/shells";

/// The shell that runs some work.
#[derive(Debug)]
pub(crate) struct Shell {
    /// Its file, by name or path.
    pub(crate) file: String,
    start: Start,
}

/// What a shell reads before it runs anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// Nothing.
    Bare,
    /// The start-up files of a login shell.
    Login,
    /// What such files were found to set up.
    Captured,
}

impl Start {
    fn of(login: bool, captured: Option<&Snapshot>) -> Self {
        match (login, captured) {
            (false, _) => Start::Bare,
            (true, None) => Start::Login,
            (true, Some(_)) => Start::Captured,
        }
    }
}

/// The shell that some work needs, if it needs one.
pub(crate) fn of(
    work: &Work,
    reading: &Reading,
    path: &SearchPath,
    captured: Option<&Snapshot>,
) -> Result<Option<Shell>, Refusal> {
    let usual = |start| Ok(Some(Shell { file: name(path).to_owned(), start }));
    let needs_none = |argv: &Argv| captured.is_some_and(|captured| !captured.concerns(&argv.file));
    match (work, reading) {
        (Work::Script(Script { shell: Some(shell), login, .. }), _) => {
            Ok(Some(Shell { file: chosen(shell, path)?, start: Start::of(*login, captured) }))
        }
        (Work::Script(Script { login: true, .. }), Reading::Plain(argv)) if needs_none(argv) => Ok(None),
        (Work::Script(Script { login: true, .. }), _) => usual(Start::of(true, captured)),
        (_, Reading::Script(_)) => usual(Start::Bare),
        (_, Reading::Plain(_)) => Ok(None),
    }
}

/// The bash that a script would log in to, if it is one.
pub(crate) fn login(shell: Option<&str>, path: &SearchPath) -> Option<String> {
    let file = match shell {
        Some(shell) => chosen(shell, path).ok()?,
        None => name(path).to_owned(),
    };
    (file.rsplit('/').next() == Some("bash")).then_some(file)
}

/// The shell that a caller chose: one of the system's own, never just any file of such a name.
fn chosen(shell: &str, path: &SearchPath) -> Result<String, Refusal> {
    let name = shell.rsplit('/').next().unwrap_or(shell);
    let refused = |reason: String| Err(Refusal::StartFailed { program: shell.into(), reason });
    if !SHELLS.contains(&name) {
        return refused(format!("it is none of the shells that can be chosen: {}", SHELLS.join(", ")));
    }
    if !shell.contains('/') {
        return Ok(shell.to_owned());
    }
    let file = Path::new(shell);
    if !file.exists() {
        return Err(Refusal::NotFound { program: shell.to_owned(), near: Vec::new() });
    }
    let same = |known: &Path| {
        known.canonicalize().is_ok_and(|known| file.canonicalize().is_ok_and(|file| file == known))
    };
    let is_listed =
        std::fs::read_to_string(LIST).is_ok_and(|list| list.lines().any(|line| line.trim() == shell));
    if is_listed || path.find(name).is_some_and(|found| same(&found)) {
        return Ok(shell.to_owned());
    }
    refused(format!("it is neither on PATH nor in {LIST}; give its name alone: {name}"))
}

impl Shell {
    fn name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or(&self.file)
    }

    /// How it is called to run some work.
    pub(crate) fn argv(&self, work: &Work) -> Vec<String> {
        let start: &[&str] = match self.start {
            Start::Bare => &[],
            Start::Login => &["-l"],
            // A login shell in every other respect, such as what it does when it ends.
            Start::Captured => &["--noprofile", "-l"],
        };
        // Only relatives of the Bourne shell know where options end.
        let end = matches!(self.name(), "bash" | "sh").then_some("--");
        let options = start.iter().copied().chain(["-c"]).chain(end).map(str::to_owned);
        std::iter::once(self.file.clone()).chain(options).chain([source(work)]).collect()
    }

    /// The text that it is given. Where rules decide, that is never the caller's own but what was judged, written anew;
    /// only what nobody can read, and what a person or `*` allows even so, runs as it was given.
    pub(crate) fn text(&self, work: &Work, reading: &Reading, rules: Rules) -> Result<String, Refusal> {
        let source = source(work);
        let dialect = if self.name() == "sh" { Dialect::Posix } else { Dialect::Bash };
        if dialect == Dialect::Posix {
            reads_alike(&source)?;
        }
        if rules == Rules::AllowEverything || !matches!(self.name(), "bash" | "sh") {
            return Ok(source);
        }
        match reading {
            Reading::Plain(argv) => {
                let words = std::iter::once(&argv.file).chain(&argv.args);
                Ok(words.map(|word| dialect.quoted(word)).collect::<Vec<_>>().join(" "))
            }
            Reading::Script(script) => match script.written(dialect) {
                None => Ok(source),
                Some(written) => written.map_err(not_alike),
            },
        }
    }
}

/// The text that a caller gave to a shell.
fn source(work: &Work) -> String {
    match work {
        Work::Line(source) | Work::Script(Script { source, .. }) => source.clone(),
        Work::Argv(_) => work.to_string(),
    }
}

/// Sees to it that a shell reads its text in a character set in which ASCII is what it seems: in others the last byte of
/// a letter can swallow a backslash or a quote.
pub(crate) fn read_ascii_as_written(env: &mut Vec<(OsString, OsString)>) {
    let value = |name: &str| env.iter().find(|(known, value)| known == name && !value.is_empty());
    let Some((name, value)) = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(value) else { return };
    let (name, value) = (name.to_string_lossy(), value.to_str());
    if !runward_policy::is_tame_locale(&name, value) {
        env.retain(|(name, _)| name != "LC_ALL");
        env.push(("LC_ALL".into(), "C.UTF-8".into()));
    }
}

/// Whether anything could stop a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// Something could.
    Decide,
    /// Nothing could: everything is allowed, nothing is blocked, and nobody has to be asked.
    AllowEverything,
}

/// The name of the shell that runs scripts here.
fn name(path: &SearchPath) -> &'static str {
    if path.find("bash").is_none() && path.find("sh").is_some() { "sh" } else { "bash" }
}

/// Refuses a script that `sh` would read in another way than it was judged.
fn reads_alike(source: &str) -> Result<(), Refusal> {
    let is_edge = |c: char| c.is_whitespace() || ";|&(){}`".contains(c);
    let sign = DIFFERENT.into_iter().find(|sign| source.contains(sign));
    let word = || source.split(is_edge).find_map(|word| BASH_WORDS.into_iter().find(|known| *known == word));
    sign.or_else(word).map_or(Ok(()), |found| Err(not_alike(found)))
}

fn not_alike(found: &str) -> Refusal {
    let reason = format!(
        "sh may read {found:?} in another way than it was judged; use bash (install it where there is no bash on PATH), or write the command without it"
    );
    Refusal::StartFailed { program: PathBuf::from("sh"), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_its_text_in_a_character_set_that_keeps_ascii() {
        let read = |env: &[(&str, &str)]| {
            let mut env = env.iter().map(|(name, value)| (name.into(), value.into())).collect();
            read_ascii_as_written(&mut env);
            env
        };
        let all = |value: &str| (OsString::from("LC_ALL"), OsString::from(value));
        assert_eq!(read(&[]), []);
        assert_eq!(read(&[("LC_ALL", "de_DE.UTF-8")]), [all("de_DE.UTF-8")]);
        assert_eq!(read(&[("LC_ALL", "zh_CN.gbk")]), [all("C.UTF-8")]);
        assert_eq!(read(&[("LANG", "zh_CN.gbk"), ("LC_ALL", "")])[1..], [all("C.UTF-8")]);
        assert_eq!(read(&[("LANG", "zh_CN.gbk"), ("LC_ALL", "C")])[1..], [all("C")]);
    }

    #[test]
    fn what_sh_would_read_in_another_way_is_refused() {
        for source in
            [r"echo $'\'; id; echo \''", "declare x; ls", "echo ${x:-'}'}", "ls &> /dev/null", "(let x)"]
        {
            assert!(reads_alike(source).is_err(), "{source}");
        }
        for source in
            ["ls -l | wc -l", "for f in *.txt; do cat \"$f\"; done 2>&1", "cat source.txt || echo $(pwd)"]
        {
            assert_eq!(reads_alike(source), Ok(()), "{source}");
        }
    }
}
