//! What was written does the same in bash as what it was read from, and reads as the same tree.

use std::process::{Command, Output};

use proptest::prelude::*;
use runward_script::{Dialect, Script, read};

use runward_testkit::{Cage, Calm, Dice, Grammar};

use crate::corpus::scripts;

fn again(script: &Script) -> String {
    script.written(Dialect::Bash).unwrap()
}

fn reads_the_same(text: &str) -> Option<String> {
    let script = read(text).ok()?;
    let written = again(&script);
    assert!(written.is_ascii(), "{written:?}");
    let second = read(&written).unwrap_or_else(|why| panic!("{why:?}\nfrom {text:?}\nto {written:?}"));
    assert_eq!(second, script, "\nfrom {text:?}\nto {written:?}");
    assert_eq!(again(&second), written, "\nfrom {text:?}");
    Some(written)
}

/// Runs a text in an empty directory; what it printed, how it ended, and which files it left.
#[expect(clippy::disallowed_methods, reason = "the real bash is what the writer is held against")]
fn run(text: &str, cage: &Cage) -> (Output, Vec<(String, Vec<u8>)>) {
    let work = cage.work("work");
    let mut bash = Command::new("/usr/bin/timeout");
    bash.args(["-s", "KILL", "5", "/bin/bash", "--norc", "--noprofile", "-c", text]);
    cage.confine(&mut bash, &work);
    let output = bash.env("LC_ALL", "C.UTF-8").output().unwrap();
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(work)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap_or_default())
        })
        .collect();
    files.sort();
    (output, files)
}

fn shown(output: &Output) -> (String, String, Option<i32>) {
    // Times differ from run to run.
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stderr: Vec<&str> = stderr.lines().filter(|line| !line.starts_with(['r', 'u', 's'])).collect();
    (String::from_utf8_lossy(&output.stdout).into_owned(), stderr.join("\n"), output.status.code())
}

#[test]
fn the_corpus_is_read_and_reads_the_same_once_written() {
    assert!(scripts().count() >= 150, "{}", scripts().count());
    for text in scripts() {
        assert!(reads_the_same(text).is_some(), "{:?}\n{text}", read(text).err());
    }
}

fn does_the_same(text: &str, written: &str, cage: &Cage) {
    let (first, files) = run(text, cage);
    let (second, files_again) = run(written, cage);
    assert_eq!(shown(&first), shown(&second), "\n{text}\n--- written:\n{written}");
    assert_eq!(files, files_again, "\n{text}\n--- written:\n{written}");
}

#[test]
fn the_corpus_does_the_same_once_written() {
    let cage = Cage::with(&[]);
    for text in scripts() {
        does_the_same(text, &again(&read(text).unwrap()), &cage);
    }
}

#[test]
fn scripts_of_the_grammar_read_the_same_once_written() {
    let mut dice = Dice::thrown(0);
    let read = (0..20_000)
        .filter(|_| reads_the_same(&Grammar::bash().script(&mut dice, Calm::No)).is_some())
        .count();
    assert!(read > 5_000, "only {read} were read");
}

/// Each runs twice and takes some milliseconds. `GRAMMAR_RUNS` asks for more.
fn wanted_runs() -> usize {
    std::env::var("GRAMMAR_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(500)
}

#[test]
fn scripts_of_the_grammar_do_the_same_once_written() {
    let cage = Cage::with(&[]);
    let mut dice = Dice::thrown(0);
    let mut runs = 0;
    while runs < wanted_runs() {
        let text = Grammar::bash().script(&mut dice, Calm::Yes);
        let Some(written) = reads_the_same(&text) else { continue };
        runs += 1;
        let (first, files) = run(&text, &cage);
        let (second, files_again) = run(&written, &cage);
        // How far an endless loop comes is a matter of chance.
        if is_endless(&first) && is_endless(&second) {
            continue;
        }
        // What bash itself does not read need not be refused here.
        let refused = String::from_utf8_lossy(&first.stderr).contains("syntax error near");
        let (a, b) = (plainly(&first, &files), plainly(&second, &files_again));
        let same = refused || a == b || bash_may_lose_a_separator(&text);
        assert!(same, "\n{text}\n--- written:\n{written}\n--- {a:?}\n--- {b:?}");
    }
}

/// Whether it did not come to its end in time.
fn is_endless(output: &Output) -> bool {
    output.status.code().is_none_or(|code| code == 137)
}

/// Bash writes a substitution anew before it runs it, and loses the separator behind `&&` and `||` where a here-document came
/// before: `cat <(for n in 1; do cat <<E⏎x⏎E⏎done && echo a; echo b)` prints `a echo b`. What was written holds none.
fn bash_may_lose_a_separator(text: &str) -> bool {
    let has = |signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
    has(&["<<"]) && has(&["$(", "<(", ">("]) && has(&["&&", "||"])
}

/// What a script printed and left, with the messages of bash as if they quoted nothing and named no line: a command that
/// is spread over lines is written on one.
fn plainly(output: &Output, files: &[(String, Vec<u8>)]) -> Vec<String> {
    let code = output.status.code().map(|code| code.to_string()).unwrap_or_default();
    let streams =
        [&output.stdout, &output.stderr].into_iter().chain(files.iter().map(|(_, content)| content));
    let texts = streams.map(|bytes| plain(&String::from_utf8_lossy(bytes)));
    files.iter().map(|(name, _)| name.clone()).chain(texts).chain([code]).collect()
}

fn plain(text: &str) -> String {
    // Whether a pipe is read to its end is a matter of chance.
    let by_chance = |line: &str| line.contains("signal 13") || line.contains("roken pipe");
    let lines = text.split_inclusive('\n').filter(|line| !by_chance(line));
    // Inside functions that came from nowhere bash calls itself "environment".
    if !["/bin/bash: ", "environment: "].iter().any(|name| text.contains(name)) {
        return lines.collect();
    }
    let unnumbered = |line: &str| match line.split_once(": line ") {
        Some((before, after)) => {
            format!("{before}{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => line.to_owned(),
    };
    let message: String = lines.map(unnumbered).collect();
    let mut signs: Vec<char> = message.chars().filter(|c| !"\n '\"{}\\$:`".contains(*c)).collect();
    // Commands of a pipeline complain in any order.
    signs.sort_unstable();
    signs.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_can_be_read_reads_the_same_once_written(
        text in "[ac$(){}\\[\\]<>|&;`'\"\\\\ \n!#*?~=0:,.@^%/é-]{0,40}"
    ) {
        reads_the_same(&text);
    }

    #[test]
    fn damaged_scripts_that_can_be_read_read_the_same_once_written(
        at in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
        length in 0usize..12,
        which in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
    ) {
        let all: Vec<&str> = scripts().collect();
        let (text, other): (Vec<char>, Vec<char>) =
            (which.get(&all).chars().collect(), other.get(&all).chars().collect());
        let (at, from) = (at.index(text.len()), from.index(other.len()));
        let piece: String = other[from..].iter().take(length).collect();
        let damaged: String = text[..at].iter().collect::<String>() + &piece + &text[at..].iter().collect::<String>();
        reads_the_same(&damaged);
    }
}
