//! What a newcomer reads first.

use crate::program::Program;

#[test]
fn the_program_alone_shows_how_to_begin() {
    let ended = Program::new(&[]).run();
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    insta::assert_snapshot!("runward", ended.stdout);
    assert_eq!(Program::new(&["--help"]).run().stdout, ended.stdout);
}

#[test]
fn every_subcommand_explains_itself() {
    for subcommand in ["stdio", "serve", "check", "approvals", "audit", "gc", "token"] {
        let ended = Program::new(&[subcommand, "--help"]).run();
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        insta::assert_snapshot!(subcommand, ended.stdout);
    }
}

#[test]
fn the_test_of_the_rules_explains_itself() {
    let ended = Program::new(&["policy", "test", "--help"]).run();
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    insta::assert_snapshot!("policy_test", ended.stdout);
}

#[test]
fn the_first_example_of_the_help_works_as_it_stands() {
    let help = Program::new(&[]).run().stdout;
    assert!(help.contains("ALLOWED_COMMANDS=ls,cat runward check -- 'ls | cat'\n"), "{help}");
    let ended = Program::new(&["check", "--", "ls | cat"]).env("ALLOWED_COMMANDS", "ls,cat").run();
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[test]
fn the_version_is_shown() {
    assert_eq!(
        Program::new(&["--version"]).run().stdout,
        concat!("runward ", env!("CARGO_PKG_VERSION"), "\n")
    );
}
