//! Standard input goes along.

use std::process::Stdio;

use runward_testkit::eventually;

use super::program::RunRemote;
use crate::raw::server::Raw;

#[test]
fn what_is_piped_in_is_read_to_its_end() {
    let ended = RunRemote::puppet(&Raw::puppet(), &["echo"]).reading(b"one\n\xff two");
    assert_eq!((ended.code, ended.stdout.as_slice()), (Some(0), b"one\n\xff two".as_slice()), "{ended:?}");
}

#[test]
fn ten_megabytes_go_there_and_back() {
    let input: Vec<u8> = (0..=250).cycle().take(10_000_000).collect();
    let ended = RunRemote::on(&Raw::allowing("cat"), &["--", "cat"]).reading(&input);
    assert!(ended.stdout == input, "{} bytes came back", ended.stdout.len());
}

#[test]
fn an_empty_input_is_one() {
    let raw = Raw::puppet();
    assert_eq!(RunRemote::puppet(&raw, &["echo", "print", "done"]).run().text(), "done");
    assert_eq!(RunRemote::puppet(&raw, &["echo", "print", "done"]).reading(b"").text(), "done");
}

#[test]
fn a_file_is_an_input() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, "from a file").unwrap();
    let raw = Raw::puppet();
    let run = RunRemote::puppet(&raw, &["echo"]).stdin(std::fs::File::open(path).unwrap());
    assert_eq!(run.run().text(), "from a file");
}

#[test]
fn a_command_that_does_not_read_ends_all_the_same() {
    let ended = RunRemote::puppet(&Raw::puppet(), &["print", "done"]).reading(&vec![b'x'; 3_000_000]);
    assert_eq!((ended.code, ended.text(), ended.stderr.as_str()), (Some(0), "done", ""));
}

#[test]
fn an_input_that_stays_open_does_not_keep_the_program() {
    let raw = Raw::puppet();
    let mut started = RunRemote::puppet(&raw, &["exit", "4"]).stdin(Stdio::piped()).start();
    let input = started.0.stdin.take();
    assert_eq!(started.status().code(), Some(4));
    drop(input);
}

#[test]
fn a_conversation_goes_back_and_forth() {
    use std::io::{BufRead, BufReader, Write};
    let raw = Raw::allowing("*");
    let script = "while read line; do echo \"got $line\"; done";
    let mut started = RunRemote::on(&raw, &["--", "sh", "-c", script]).stdin(Stdio::piped()).start();
    let (mut input, mut output) =
        (started.0.stdin.take().unwrap(), BufReader::new(started.0.stdout.take().unwrap()));
    for word in ["one", "two", "three"] {
        writeln!(input, "{word}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, format!("got {word}\n"));
    }
    drop(input);
    eventually("it ends with its input", || started.0.try_wait().unwrap().is_some());
}
