//! What is asked of the server, and what never gets there.

use std::net::TcpListener;

use super::program::RunRemote;
use crate::raw::server::Raw;

#[test]
fn the_current_directory_is_sent_and_another_one_can_be_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap();
    let raw = Raw::puppet();
    let mut here = RunRemote::puppet(&raw, &["pwd"]).into_command();
    let output = here.current_dir(&path).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), path.to_str().unwrap());
    let puppet = runward_testkit::puppet();
    let args = ["--cwd", path.to_str().unwrap(), "--", puppet.to_str().unwrap(), "pwd"];
    assert_eq!(RunRemote::on(&raw, &args).run().text(), path.to_str().unwrap());
}

#[test]
fn no_variable_is_sent_but_those_that_are_named() {
    let raw = Raw::puppet();
    let puppet = runward_testkit::puppet();
    let verbs = ["env", "ONE", "print", "|", "env", "TWO", "print", "|", "env", "THREE"];
    let run = |options: &[&str]| {
        let args = [options, &["--", puppet.to_str().unwrap()], verbs.as_slice()].concat();
        let run = RunRemote::on(&raw, &args).env("ONE", "1").env("TWO", "two words").env("THREE", "");
        run.run().text().to_owned()
    };
    assert_eq!(run(&[]), "||");
    assert_eq!(run(&["--keep-env", "ONE"]), "1||");
    assert_eq!(run(&["--keep-env=ONE,TWO"]), "1|two words|");
    assert_eq!(run(&["--keep-env", "TWO", "--keep-env=THREE"]), "|two words|");
}

#[test]
fn variables_that_are_not_set_are_all_named_before_anything_is_sent() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/raw", nobody.local_addr().unwrap());
    nobody.set_nonblocking(true).unwrap();
    let args = ["--keep-env", "SET,GONE", "--keep-env=LOST", "--", "ls"];
    let ended = RunRemote::bare(&args).env("SET", "1").env("RUN_REMOTE_SERVER", &url).run();
    ended.failed(246, "not set: GONE, LOST");
    assert!(nobody.accept().is_err(), "somebody called");
}

#[test]
fn a_server_that_is_not_named_in_full_is_refused_with_an_example() {
    RunRemote::bare(&["--", "ls"]).run().failed(246, "RUN_REMOTE_SERVER is not set");
    for short in ["localhost:8000", "127.0.0.1", "box/raw", "ftp://box/raw", "http://"] {
        let ended = RunRemote::bare(&["--", "ls"]).env("RUN_REMOTE_SERVER", short).run();
        ended.failed(246, "as in RUN_REMOTE_SERVER=http://127.0.0.1:8000/raw");
    }
}

#[test]
fn the_dashes_are_required_and_an_old_name_is_not_known() {
    let raw = Raw::allowing("*");
    RunRemote::on(&raw, &["ls"]).run().failed(246, "put -- before the command, as in: run-remote -- ls");
    RunRemote::on(&raw, &["--keep-end", "X", "--", "ls"]).run().failed(246, "there is no option --keep-end");
}

#[test]
fn each_way_to_fail_has_its_code_and_says_what_to_do() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = RunRemote::bare(&["--", "ls"]).env("RUN_REMOTE_SERVER", &format!("http://{free}/raw"));
    nobody.run().failed(247, "is the server running");
    let raw = Raw::with(&[("ALLOWED_COMMANDS", "ls,nothere"), ("RUNWARD_TOKEN", "s3cret")]);
    let run = |args: &[&str]| RunRemote::on(&raw, args).env("RUN_REMOTE_TOKEN", "s3cret").run();
    RunRemote::on(&raw, &["--", "ls"]).run().failed(254, "set RUN_REMOTE_TOKEN");
    run(&["--", "rm", "x"]).failed(250, "command \"rm\" is not allowed");
    run(&["--", "nothere"]).failed(251, "program not found: nothere");
    run(&["--cwd", "/no/such/place", "--", "ls"]).failed(252, "cwd does not exist: /no/such/place");
    let elsewhere = RunRemote::bare(&["--", "ls"]).env("RUN_REMOTE_TOKEN", "s3cret");
    let elsewhere = elsewhere.env("RUN_REMOTE_SERVER", &format!("http://{}", raw.address));
    elsewhere.run().failed(249, "usually ends in /raw");
    assert_eq!(run(&["--", "ls", "/"]).code, Some(0));
}

#[test]
fn a_busy_server_has_a_code_of_its_own() {
    let allowed = runward_testkit::puppet();
    let raw = Raw::with(&[("ALLOWED_COMMANDS", allowed.to_str().unwrap()), ("RUNWARD_LIMITS_SESSIONS", "1")]);
    let mut first = raw.run_puppet(&["wait"]);
    first.start();
    RunRemote::puppet(&raw, &["print", "x"]).run().failed(253, "1 commands are running already");
}

#[test]
fn a_check_runs_nothing_and_says_which_file_it_would_be() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("made");
    let raw = Raw::allowing("touch");
    let ended = RunRemote::on(&raw, &["--check", "--", "touch", file.to_str().unwrap()]).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines: Vec<&str> = ended.text().lines().collect();
    assert!(lines[0].starts_with("allowed: "), "{lines:?}");
    assert_eq!(lines[1], "program: /usr/bin/touch");
    assert_eq!((lines[2].split(' ').next(), lines[2].len()), (Some("sha256:"), 72));
    assert!(!file.exists());
    let denied = RunRemote::on(&raw, &["--check", "--", "rm"]).run();
    assert_eq!(denied.code, Some(250));
    assert!(denied.text().starts_with("denied: command \"rm\" is not allowed"), "{denied:?}");
}

#[test]
fn it_tells_its_version_and_its_codes() {
    let version = RunRemote::bare(&["--version"]).run();
    assert_eq!(version.text(), format!("run-remote {}\n", env!("CARGO_PKG_VERSION")));
    insta::assert_snapshot!(RunRemote::bare(&["--help"]).run().text());
}
