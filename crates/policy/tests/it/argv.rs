//! A plain reading is exactly the argument vector that bash would make.

use std::process::Command;

use proptest::prelude::*;
use runward_model::{Argv, Refusal, Work};
use runward_policy::{Reading, read};

fn plain(line: &str) -> Option<Vec<String>> {
    match read(&Work::Line(line.to_owned())) {
        Ok(Reading::Plain(argv)) => Some(std::iter::once(argv.file).chain(argv.args).collect()),
        _ => None,
    }
}

/// What bash passes on when the line stands as the arguments of a command.
#[expect(clippy::disallowed_methods, reason = "the real bash is what the splitter is held against")]
fn by_bash(line: &str) -> Vec<String> {
    // The line keeps its place as a command: the first word is looked up, not found, and handed on with the others.
    let script =
        format!("command_not_found_handle() {{ printf '%s\\0' \"$@\"; }}\nPATH=/nonexistent\n{line}\n");
    let out = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", &script])
        .env_clear()
        .current_dir("/")
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn lines_without_shell_syntax_are_split() {
    for (line, words) in [
        ("ls", &["ls"][..]),
        ("  ls\t-l  \n", &["ls", "-l"]),
        ("\n\nls\n\n", &["ls"]),
        ("a 'b c' \"d e\" f\\ g", &["a", "b c", "d e", "f g"]),
        ("a ''", &["a", ""]),
        ("a b''c\"\"d", &["a", "bcd"]),
        ("a \"\\$ \\` \\\" \\\\ \\n\"", &["a", "$ ` \" \\ \\n"]),
        ("a \\\n b", &["a", "b"]),
        ("a b\\\nc", &["a", "bc"]),
        ("a {} b}", &["a", "{}", "b}"]),
        ("[ -f x ]", &["[", "-f", "x", "]"]),
        ("x a#b !", &["x", "a#b", "!"]),
        ("x a=b b~ :", &["x", "a=b", "b~", ":"]),
    ] {
        assert_eq!(plain(line).unwrap(), words, "{line:?}");
    }
}

#[test]
fn anything_that_bash_would_interpret_makes_a_script() {
    for line in [
        "a|b",
        "a&b",
        "a;b",
        "a<b",
        "a>b",
        "(a)",
        "a\nb",
        "a $b",
        "a \"$b\"",
        "a `b`",
        "a *",
        "a ?",
        "a [b]",
        "~/a",
        "a ~",
        "a b=~",
        "a {b,c}",
        "a {1..2}",
        "a #b",
        "#a",
        "A=b",
        "A+=b",
        "A=b c",
        "! a",
        "if",
        "time a",
        "{ a",
        "[[ a ]]",
        "cd /",
        "'cd' /",
        "export A",
        "exit",
        "ulimit -n",
        "type a",
        "eval a",
        ". a",
        ": a",
        "a '",
        "a \"",
        "a \\",
        "A[0]=b",
    ] {
        assert!(matches!(read(&Work::Line(line.to_owned())), Ok(Reading::Script(_))), "{line:?}");
    }
}

#[test]
fn a_program_with_arguments_is_never_read_by_a_shell() {
    let argv = Argv { file: "a b".into(), args: vec!["$(c)".into(), "; d".into()] };
    let Ok(Reading::Plain(read)) = read(&Work::Argv(argv.clone())) else { panic!("not plain") };
    assert_eq!(read, argv);
}

#[test]
fn work_without_a_command_is_empty() {
    for line in ["", " ", "\t\n ", "\\\n"] {
        assert_eq!(read(&Work::Line(line.into())).unwrap_err(), Refusal::Empty, "{line:?}");
    }
    assert_eq!(read(&Work::Argv(Argv { file: String::new(), args: vec![] })).unwrap_err(), Refusal::Empty);
}

#[test]
fn a_nul_is_refused_wherever_it_stands() {
    let argv = |file: &str, arg: &str| Work::Argv(Argv { file: file.into(), args: vec![arg.into()] });
    assert_eq!(read(&Work::Line("ls \0".into())).unwrap_err(), Refusal::Nul { what: "command" });
    assert_eq!(read(&argv("l\0s", "a")).unwrap_err(), Refusal::Nul { what: "file" });
    assert_eq!(read(&argv("ls", "a\0")).unwrap_err(), Refusal::Nul { what: "args" });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn plain_readings_are_what_bash_makes_of_the_line(line in "[a-cA=+:~{}.,#!\\[\\]/^%@\\-0é \t\n\\\\'\"]{1,16}") {
        if let Some(words) = plain(&format!("zz {line}")) {
            prop_assert_eq!(words, by_bash(&format!("zz {line}")));
        }
        // A path is not looked up, and `[` is found: neither reaches the stand-in that shows the words.
        if let Some(words) = plain(&line).filter(|words| !words[0].contains('/') && words[0] != "[") {
            prop_assert_eq!(words, by_bash(&line));
        }
    }
}

#[test]
fn a_program_that_is_named_like_a_builtin_is_followed_too() {
    let args = ["whoami".to_owned()].to_vec();
    for file in ["command", "/usr/bin/command"] {
        let work = Work::Argv(Argv { file: file.to_owned(), args: args.clone() });
        let verdict = crate::policy("command,ls").judge(&read(&work).unwrap(), std::path::Path::new("/"));
        assert_eq!(verdict.decision, runward_model::Decision::Deny, "{file}: {}", verdict.reason);
    }
}
