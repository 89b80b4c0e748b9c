//! The forms in which one and the same command is known.

use super::shape::Program;
use crate::facts::Word;

/// Programs whose commands are also programs of their own: `git-push` is `git push`.
const FAMILIES: &[&str] = &["cargo", "docker", "gh", "git", "helm", "kubectl", "podman"];

/// A command under one of the names of its program.
pub(super) struct Form<'a> {
    pub(super) program: Program<'a>,
    pub(super) words: Vec<Word>,
}

/// A command as it is written, by the name of its program without directories, by the name of its file, and as a command
/// of the family that it belongs to.
pub(super) fn of<'a>(program: &'a Program<'a>, words: &[Word]) -> Vec<Form<'a>> {
    let file = program.file.as_deref();
    let file_name = file.and_then(|file| file.file_name()).and_then(|name| name.to_str());
    let called = |base: &'a str, front: &[&str], rest: &[Word]| {
        let words = front.iter().map(|&word| Word::known(word)).chain(rest.iter().cloned()).collect();
        Form { program: Program { base, file: program.file.clone() }, words }
    };
    let rest = words.get(1..).unwrap_or_default();
    let names = || std::iter::once(program.base).chain(file_name);
    let mut forms = vec![Form {
        program: Program { base: program.base, file: program.file.clone() },
        words: words.to_vec(),
    }];
    forms.extend(names().map(|name| called(name, &[name], rest)));
    for (family, command) in names().filter_map(member) {
        forms.push(called(family, &[family, command], rest));
        // A plugin is given its own name again by its family.
        if rest.first().and_then(Word::text) == Some(command) {
            forms.push(called(family, &[family], rest));
        }
    }
    forms
}

/// The family of a program and the command of it that it is.
pub(crate) fn member(name: &str) -> Option<(&'static str, &str)> {
    let (family, command) = name.split_once('-')?;
    let family = *FAMILIES.iter().find(|known| **known == family)?;
    Some((family, command)).filter(|(_, command)| !command.is_empty())
}

/// Whether this is that program in one of its versions: `python3.11` is a `python3`, and a `python`.
pub(super) fn is_version(name: &str, program: &str) -> bool {
    let version = name.strip_prefix(program).map(|rest| rest.strip_prefix('-').unwrap_or(rest));
    version.is_some_and(|version| {
        version.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && version.contains(|c: char| c.is_ascii_digit())
            && version.chars().all(|c| c.is_ascii_digit() || c == '.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_a_family_and_versions_are_known() {
        assert_eq!(member("git-push"), Some(("git", "push")));
        assert_eq!(member("git-rev-parse"), Some(("git", "rev-parse")));
        assert_eq!(member("docker-compose"), Some(("docker", "compose")));
        for name in ["git", "git-", "gitk", "apt-get", "x-git-push"] {
            assert_eq!(member(name), None, "{name}");
        }
        for (name, program) in
            [("python3", "python"), ("python3.11", "python3"), ("gcc-12", "gcc"), ("pip3", "pip")]
        {
            assert!(is_version(name, program), "{name} {program}");
        }
        for (name, program) in
            [("python3", "python3"), ("sha256sum", "sha"), ("lsof", "ls"), ("git-", "git"), ("ls-.", "ls")]
        {
            assert!(!is_version(name, program), "{name} {program}");
        }
    }
}
