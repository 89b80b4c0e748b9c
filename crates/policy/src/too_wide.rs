//! Prefixes that are too wide to be allowed for good.

use crate::rules::forms::member;
use crate::weigh::base_name;
use crate::wrappers;

/// One prefix a line.
const LIST: &str = include_str!("../data/too_wide.txt");

/// Interpreters that take every word behind their script for the script's own.
const RUN_SCRIPTS: &[&str] =
    &["Rscript", "julia", "lua", "luajit", "node", "nodejs", "perl", "php", "python", "ruby", "tclsh"];

/// More words than this say too little about what a person grants.
const MOST_WORDS: usize = 16;

/// So are longer words.
const LONGEST_WORD: usize = 200;

/// Why nobody is offered to allow everything that begins with these words; `None` when they are narrow enough.
pub fn too_wide(prefix: &[String]) -> Option<String> {
    let Some((program, args)) = prefix.split_first().filter(|(program, _)| !program.is_empty()) else {
        return Some("an empty prefix is every command".into());
    };
    if prefix.len() > MOST_WORDS || prefix.iter().any(|word| word.len() > LONGEST_WORD) {
        return Some(format!("a prefix has at most {MOST_WORDS} words of {LONGEST_WORD} bytes"));
    }
    if prefix.iter().any(|word| word.chars().any(char::is_control)) {
        return Some("a prefix holds no control characters".into());
    }
    let name = base_name(program);
    if let Some((family, command)) = member(name) {
        let same: Vec<String> =
            [family, command].iter().map(ToString::to_string).chain(args.iter().cloned()).collect();
        return too_wide(&same);
    }
    let first = args.first().map(String::as_str);
    let is_bare = first.is_none_or(|word| word.starts_with('-'));
    if wrappers::is_wrapper(name) {
        return Some(format!("{name} runs other commands"));
    }
    if wrappers::is_interpreter(name) && (is_bare || !RUN_SCRIPTS.contains(&family(name))) {
        return Some(format!("{name} runs whatever it is given"));
    }
    if wrappers::starts_its_words(name) && !listed([name], Behind::Nothing) {
        return Some(format!("{name} runs other commands"));
    }
    let plain = || args.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
    let words: Vec<&str> = std::iter::once(family(name)).chain(plain()).collect();
    let as_given: Vec<&str> = std::iter::once(name).chain(plain()).collect();
    let is_listed = |words: &[&str]| {
        let narrower = (1..=words.len()).filter_map(|count| words.get(..count));
        (is_bare && listed(words.iter().take(1).copied(), Behind::Nothing))
            || listed(words.iter().copied(), Behind::Nothing)
            || narrower.into_iter().any(|words| listed(words.iter().copied(), Behind::Anything))
    };
    (is_listed(&words) || is_listed(&as_given)).then(|| format!("too much begins with {}", prefix.join(" ")))
}

/// What may follow the words of a line in the list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    Nothing,
    Anything,
}

fn listed<'a>(words: impl IntoIterator<Item = &'a str>, behind: Behind) -> bool {
    let words: Vec<&str> = words.into_iter().collect();
    lines().any(|(line, wanted)| wanted == behind && line.split(' ').eq(words.iter().copied()))
}

fn lines() -> impl Iterator<Item = (&'static str, Behind)> {
    let lines = LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| match line.strip_suffix(" *") {
        Some(words) => (words, Behind::Anything),
        None => (line, Behind::Nothing),
    })
}

/// The name without a version at its end.
fn family(name: &str) -> &str {
    let family = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if family.is_empty() { name } else { family }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(line: &str) -> bool {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        too_wide(&words).is_some()
    }

    #[test]
    fn interpreters_shells_wrappers_and_listed_prefixes_are_too_wide() {
        for line in [
            "",
            "bash",
            "bash script.sh",
            "sh -c ls",
            "/bin/zsh -lc ls",
            "nu -c ls",
            "python3",
            "python3.12",
            "python3 -c",
            "python3 -c print(1)",
            "python -m http.server",
            "node -e 1",
            "perl -ne 1",
            "make test",
            "awk {print}",
            "sed -n p",
            "ssh host",
            "env ls",
            "sudo ls",
            "timeout 5 ls",
            "xargs rm",
            "find .",
            "nohup ls",
            "busybox ls",
            "/lib64/ld-linux-x86-64.so.2 /bin/ls",
            "gosu root ls",
            "git",
            "git -C /srv",
            "git --no-pager",
            "/usr/bin/git",
            "/usr/lib/git-core/git-push",
            "git-push --force",
            "git push",
            "git push --force",
            "rm",
            "rm -rf",
            "rm -rf /tmp/x",
            "docker",
            "docker run",
            "docker run ubuntu ls",
            "docker --host x run ubuntu",
            "npm run",
            "npm run --silent",
            "npx cowsay",
            "cargo run",
            "uv run x.py",
            "pip3",
            "pip3 install",
            "curl",
            "sort",
        ] {
            assert!(wide(line), "{line}");
        }
    }

    #[test]
    fn narrow_prefixes_are_not() {
        for line in [
            "ls",
            "ls -l",
            "git status",
            "git push origin main",
            "npm test",
            "npm run build",
            "cargo test -p x",
            "python3 manage.py test",
            "docker ps",
            "kubectl get pods",
            "/usr/bin/git log",
            "rm build/out.o",
            "gh pr list",
        ] {
            assert!(!wide(line), "{line}");
        }
    }

    #[test]
    fn what_a_person_could_not_read_is_not_offered() {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(too_wide(&words(&["ls", "a\nb"])).is_some());
        assert!(too_wide(&words(&["ls", &"x".repeat(201)])).is_some());
        assert!(too_wide(&words(&["ls"; 17])).is_some());
        assert!(too_wide(&words(&[""])).is_some());
    }

    #[test]
    fn every_line_of_the_list_counts() {
        for (line, _) in lines() {
            assert!(wide(line), "{line}");
            assert_eq!(line, line.trim(), "{line:?} would never be found");
        }
        assert!(lines().count() > 100);
    }
}
