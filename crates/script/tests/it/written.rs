//! What is written.

use runward_script::{Dialect, read};

fn written(text: &str) -> String {
    read(text).unwrap().written(Dialect::Bash).unwrap()
}

#[test]
fn every_word_is_quoted_and_nothing_but_ascii_is_left() {
    assert_eq!(written("ls  -la \"a b\"  # a comment"), "'ls' '-la' 'a b'");
    assert_eq!(written("echo größe 中 \"it's\""), r"'echo' $'gr\xc3\xb6\xc3\x9fe' $'\xe4\xb8\xad' $'it\'s'");
    assert_eq!(written("echo `ls`"), "'echo' $( 'ls' )");
    assert_eq!(written("cat <<E\na $x\nE\n"), "'cat' <<< 'a '\"${x}\"");
}

#[test]
fn what_bash_would_read_otherwise_is_not_read() {
    for text in [
        "x=(a)# ; touch M",
        "x=(a)ls touch M",
        "x=()echo touch M",
        "x+=(a)b c",
        "x[1]=(a) c",
        "x[1]=(a)# ; c",
        "declare x=(a)# ; c",
        "declare x=(a)b c",
        "(x=(a)# ; c)",
        "echo $(x=(a)ls c)",
        "if x=(a)# ; then c; fi",
        "f() { x=(a)# ; c; }",
        "x=(a)\"\" c",
        "x=(a)$y c",
        "x=(a)<(c)",
        "x=(a)>f",
        "x=(a)(b)",
        "(ls)# c",
        "ls\r",
        "(())# c",
        // To bash these are elements of arrays, or fail as such.
        "a[$(c)]=1",
        "a[$(c)]=1 ls",
        "a[- -b[0]]=1 ls",
        "declare a[$(c)]=1",
        "a[1]x ls",
        // The delimiter belongs to the line that goes on.
        "cat <<E\na\\\nE\nE",
        "cat <<-E\n\ta\\\nE\nE",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn commands_stay_on_their_lines() {
    let text = "echo 1\n\n# nothing\nif true\nthen\n  echo 'a\nb'\n  ls\nfi\ncat <<E\nx\nE\necho $LINENO";
    let again = written(text);
    let line = |needle: &str| again.lines().position(|line| line.contains(needle)).unwrap() + 1;
    assert_eq!((line("'1'"), line("if"), line("'ls'"), line("cat"), line("LINENO")), (1, 4, 8, 10, 13));
}

#[test]
fn a_plain_shell_is_given_what_it_knows() {
    let posix = |text: &str| read(text).unwrap().written(Dialect::Posix);
    assert_eq!(posix("echo \"it's é\"").unwrap(), r"'echo' 'it'\''s é'");
    assert_eq!(
        posix("cat <<E; ls\na $x \\$y\nE\n").unwrap(),
        "'cat' <<END_OF_TEXT\na ${x} \\$y\nEND_OF_TEXT\n 'ls'"
    );
    for text in [
        "[[ a ]]",
        "((1))",
        "x=(a)",
        "cat <(ls)",
        "ls |& cat",
        "ls &> x",
        "echo ${x/a/b}",
        "time ls",
        "trap ls EXIT",
    ] {
        assert!(posix(text).is_err(), "{text}");
    }
}
