//! Which shell runs a script: bash, by whose grammar it was judged, else sh where both read it alike.

use std::path::PathBuf;

use runward_model::Refusal;
use runward_policy::SearchPath;

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

/// The name of the shell that runs scripts here.
pub(crate) fn name(path: &SearchPath) -> &'static str {
    if path.find("bash").is_none() && path.find("sh").is_some() { "sh" } else { "bash" }
}

/// Refuses a script that `sh` would read in another way than it was judged.
pub(crate) fn reads_alike(source: &str) -> Result<(), Refusal> {
    let is_edge = |c: char| c.is_whitespace() || ";|&(){}`".contains(c);
    let sign = DIFFERENT.into_iter().find(|sign| source.contains(sign));
    let word = || source.split(is_edge).find_map(|word| BASH_WORDS.into_iter().find(|known| *known == word));
    let Some(found) = sign.or_else(word) else { return Ok(()) };
    let reason = format!(
        "there is no bash on PATH, and sh may read {found:?} in another way than it was judged; install bash, or write the command without it"
    );
    Err(Refusal::StartFailed { program: PathBuf::from("sh"), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

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
