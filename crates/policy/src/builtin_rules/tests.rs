//! The real bash says which variables a builtin sets; what is said here may not leave one out.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::*;

/// Every variable that the lines below could set.
const WATCHED: [&str; 9] = ["aa", "bb", "cc", "dd", "ee", "OPTARG", "REPLY", "MAPFILE", "PATH"];

/// What is said of a line: the variables that it sets, sorted; none where it is refused.
fn said(words: &[String]) -> Option<Vec<String>> {
    let words: Vec<Word> = words.iter().map(Word::known).collect();
    let (command, args) = words.split_first()?;
    let mut names: Vec<String> =
        effects(command, args).ok()?.assigned.into_iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    Some(names)
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The variables that bash really sets or unsets, for each of these lines.
#[expect(clippy::disallowed_methods, reason = "the real bash is what the reader is held against")]
fn really_set(lines: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut script = String::from("f() {\n");
    for name in WATCHED {
        let _ = writeln!(script, "[ \"${{{name}-unset}}\" = before ] || builtin printf '{name} '");
    }
    script.push_str("}\nset -f\n");
    for line in lines {
        let before = WATCHED.map(|name| format!("{name}=before ")).concat();
        let line: Vec<String> = line.iter().map(|word| quoted(word)).collect();
        let _ = writeln!(
            script,
            "( {before}\nset -- -x value\n{} >/dev/null 2>&1 < <(builtin echo one two)\nf )",
            line.join(" ")
        );
        script.push_str("builtin echo\n");
    }
    let bash = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", &script])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(bash.stdout).unwrap();
    let found: Vec<Vec<String>> = text
        .lines()
        .map(|line| {
            let mut names: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            names.sort();
            names
        })
        .collect();
    assert_eq!(found.len(), lines.len(), "{text}");
    found
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn builtins_set_what_is_said_and_nothing_else() {
    let table = [
        ("getopts x aa", "OPTARG aa"),
        ("getopts -- x: aa", "OPTARG aa"),
        ("getopts -- x: PATH", "OPTARG PATH"),
        ("getopts x: PATH -x 1", "OPTARG PATH"),
        ("printf -v aa text", "aa"),
        ("printf -vaa text", "aa"),
        ("printf -v aa -v bb text", "aa bb"),
        ("printf -v aa -vPATH text", "PATH aa"),
        ("printf -v aa -- text bb", "aa"),
        ("printf -- text", ""),
        ("printf text -v aa", ""),
        ("read aa bb", "aa bb"),
        ("read -r", "REPLY"),
        ("read -ra aa", "aa"),
        ("read -raaa", "aa"),
        ("read -d - aa", "aa"),
        ("read -d-aa -n 3 bb", "bb"),
        ("read -rd -- aa", "aa"),
        ("read -p -a -t 1 cc", "cc"),
        ("read -u 0 -- PATH", "PATH"),
        ("mapfile -t", "MAPFILE"),
        ("mapfile -tn 3 aa", "aa"),
        ("mapfile -tn3 -d x -- aa", "aa"),
        ("readarray -O 1 PATH", "PATH"),
        ("wait -n -p aa", "aa"),
        ("wait -npPATH", "PATH"),
        ("unset aa bb", "aa bb"),
        ("unset -v -- PATH", "PATH"),
        ("declare -x aa=1 bb", "aa bb"),
        ("declare -- aa=1", "aa"),
        ("declare -gx -- PATH=x", "PATH"),
        ("typeset +x aa=2", "aa"),
        ("export -- PATH=x", "PATH"),
        ("export -n aa=1", "aa"),
        ("readonly -p", ""),
        ("readonly aa=1", "aa"),
        ("jobs -p", ""),
        ("shopt -sq nullglob", ""),
        ("set -e -- PATH=x", ""),
    ];
    for (line, wanted) in table {
        assert_eq!(said(&words(line)).as_deref(), Some(words_or_none(wanted).as_slice()), "{line}");
    }
    let lines: Vec<Vec<String>> = table.iter().map(|(line, _)| words(line)).collect();
    for (line, set) in lines.iter().zip(really_set(&lines)) {
        let said = said(line).unwrap();
        assert!(set.iter().all(|name| said.contains(name)), "{line:?} sets {set:?}, said {said:?}");
    }
}

fn words_or_none(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn what_is_not_understood_to_the_end_is_refused() {
    for line in [
        "getopts -a x PATH",
        "getopts x a[1]",
        "printf -x text",
        "printf -v",
        "printf -v a[1] text",
        "printf -v x -- a%n PATH",
        "printf %5%%n PATH",
        "printf %lln PATH",
        "printf %%%n PATH",
        "printf -- %n PATH",
        "printf -- -v%n PATH",
        "read -Z aa",
        "read aa -a PATH",
        "read -a a[1]",
        "mapfile -C eval aa",
        "mapfile -c 1 aa",
        "mapfile -tCeval",
        "wait -x",
        "wait -p a[1]",
        "jobs -x ls",
        "jobs -lx ls",
        "unset -x aa",
        "unset a[1]",
        "declare -n aa=PATH",
        "declare -xn aa=PATH",
        "declare -i aa=1",
        "declare aa=1 -n bb=PATH",
        "export -f ls",
        "export aa -n PATH",
        "readonly -a aa",
        "local -",
        "shopt -s expand_aliases",
        "shopt -so posix",
        "shopt -s -- extglob",
        "set -k",
        "set -oposix",
        "set -o posix",
    ] {
        assert_eq!(said(&words(line)), None, "{line}");
    }
    let unknown = Word::anything("$x");
    for name in
        ["getopts", "printf", "read", "mapfile", "wait", "jobs", "unset", "declare", "export", "set", "shopt"]
    {
        assert!(effects(&Word::known(name), std::slice::from_ref(&unknown)).is_err(), "{name} $x");
    }
}

/// Lines of builtins with options where they stand and where they do not.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let builtin = prop::sample::select(vec![
        "getopts",
        "printf",
        "read",
        "mapfile",
        "readarray",
        "wait",
        "unset",
        "declare",
        "typeset",
        "export",
        "readonly",
        "jobs",
        "shopt",
        "set",
        "local",
    ]);
    let word = prop::sample::select(vec![
        "--", "-", "-v", "-vaa", "-vbb", "-a", "-aaa", "-abb", "-ra", "-rabb", "-d", "-d,", "-n", "-n1",
        "-p", "-paa", "-np", "-npbb", "-t", "-t1", "-u", "-u0", "-N1", "-O", "-O1", "-s", "-s1", "-e", "-i",
        "-x", "+x", "-g", "-gx", "-f", "-A", "-c", "-C", "-o", "+o", "-k", "-m", "aa", "bb", "cc", "aa=1",
        "bb=2", "cc+=x", "dd", "x:", ":x", "x", "1", "0", "text", "%s", "a%n", "%n", "%5%n", "%%n", "PATH",
        "PATH=x", "ee", "nullglob", "errexit", "''", "+",
    ]);
    (builtin, prop::collection::vec(word, 0..6))
        .prop_map(|(builtin, rest)| std::iter::once(builtin).chain(rest).map(str::to_owned).collect())
}

#[test]
fn no_builtin_sets_what_was_not_said_in_whatever_order_its_words_come() {
    let mut runner = TestRunner::deterministic();
    let strategy = lines();
    let mut kept: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for _ in 0..20_000 {
        let line = strategy.new_tree(&mut runner).unwrap().current();
        if let Some(said) = said(&line) {
            kept.push((line, said));
        }
        if kept.len() == 1_500 {
            break;
        }
    }
    assert!(kept.len() > 500, "{}", kept.len());
    for part in kept.chunks(250) {
        let lines: Vec<Vec<String>> = part.iter().map(|(line, _)| line.clone()).collect();
        for ((line, said), set) in part.iter().zip(really_set(&lines)) {
            let missed = set.iter().find(|name| !said.contains(name));
            assert_eq!(missed, None, "{line:?} sets {set:?}, said {said:?}");
        }
    }
}

#[test]
fn the_real_bash_is_seen_to_set_variables() {
    let lines = ["printf -v aa -v PATH text", "getopts -- x: PATH", "read -ra bb", "echo aa"].map(words);
    assert_eq!(really_set(&lines), ["PATH", "OPTARG PATH", "bb", ""].map(words_or_none));
}
